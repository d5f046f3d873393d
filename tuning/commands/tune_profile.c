/* kbtune plan, apply, verify, restore, status. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/json.h"
#include "tuning/commands/command.h"
#include "tuning/commands/tune_commands.h"
#include "tuning/journal/journal.h"
#include "tuning/journal/transaction.h"
#include "tuning/knobs/knobs.h"
#include "tuning/machine/holder.h"
#include "tuning/machine/latency.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/state_folder.h"
#include "tuning/machine/tasks.h"
#include "tuning/machine/tuned.h"

/* --------------------------------------------------------------------------------------------------------- plan -- */

const struct cli_command tune_plan_cli = {
    .name = "plan",
    .synopsis = "PROFILE [--sysroot DIR] [--json]",
    .summary =
	"Show every change that a profile means on this machine, before and after; what cannot be done here and why; "
	"what needs a reboot. Changes nothing.",
    .details = "PROFILE is the name of a profile (kbtune profiles) or, with a slash in it, the path of one.",
    .min_args = 1,
    .max_args = 1,
};

struct request {
	const char *sysroot;
	struct apply_options options;
	bool json, dry_run;
};

static enum status print_the_plan(struct machine *m, const struct cli_list *args, void *request, struct err *e)
{
	const struct request *r = request;
	struct profile profile;
	struct plan plan = {0};
	int rc = profile_load(args->items[0], knobs_keys(), &profile, e);

	if (!rc)
		rc = knobs_plan(m, &profile, &plan, e);
	profile_print_faults(&profile, stderr);
	if (!rc && r->json)
		say_json(plan_to_json(&plan), NULL, SAY_JSON);
	else if (!rc)
		plan_print(&plan, stdout);
	plan_free(&plan);
	rc = profile_has_faults(&profile) ? STATUS_USAGE : rc ? (int)failed(e) : STATUS_OK;
	profile_free(&profile);
	return (enum status)rc;
}

enum status tune_plan(int argc, char **argv, struct err *e)
{
	struct request r = {0};
	const struct cli_flag flags[] = {COMMAND_SYSROOT(&r.sysroot), COMMAND_JSON(&r.json), COMMAND_FLAGS_END};

	return command_run(&(struct command){&tune_plan_cli, flags, &r.sysroot, print_the_plan, &r}, argc, argv, e);
}

/* -------------------------------------------------------------------------------------------------------- apply -- */

const struct cli_command tune_apply_cli = {
    .name = "apply",
    .synopsis = "PROFILE [--replace] [--strict] [--dry-run] [--sysroot DIR] [--json]",
    .summary =
	"Make the changes of a profile, all or none: originals are written to a journal first, every value is read "
	"back, and if one step fails all are undone.",
    .details = "It stays applied until 'kbtune restore', in any process, or a reboot.",
    .min_args = 1,
    .max_args = 1,
};

static enum status apply(struct machine *m, const struct cli_list *args, void *request, struct err *e)
{
	struct request *r = request;

	r->options.say = r->json ? SAY_JSON : SAY_TEXT;
	return (r->dry_run ? check_profile : apply_profile)(m, args->items[0], &r->options, e);
}

enum status tune_apply(int argc, char **argv, struct err *e)
{
	struct request r = {0};
	const struct cli_flag flags[] = {
	    {"replace", CLI_FLAG, &r.options.replace, NULL, "restore what is applied first", 0, 0},
	    {"strict", CLI_FLAG, &r.options.strict, NULL, "refuse where a setting is not possible here", 0, 0},
	    {"dry-run", CLI_FLAG, &r.dry_run, NULL, "as 'kbtune plan', and refuse what apply would refuse", 0, 0},
	    COMMAND_SYSROOT(&r.sysroot),
	    COMMAND_JSON(&r.json),
	    COMMAND_FLAGS_END};

	return command_run(&(struct command){&tune_apply_cli, flags, &r.sysroot, apply, &r}, argc, argv, e);
}

/* ------------------------------------------------------------------------------------------------------- verify -- */

const struct cli_command tune_verify_cli = {
    .name = "verify",
    .synopsis = "[--sysroot DIR] [--json]",
    .summary = "Compare the machine with what was applied. Exit status 3, and what drifted, if it is no longer so.",
    .min_args = 0,
    .max_args = 0,
};

static enum status load_applied(struct machine *m, struct journal *j, struct err *e)
{
	int rc = state_folder_open(m, false, e);

	if (!rc)
		rc = journal_load(m, j, e);
	if (!rc && j->moot) {
		journal_free(j);
		rc = -ENOENT;
	}
	if (rc == -ENOENT)
		err_set(e, rc, STATUS_NO, NULL, NULL, "nothing is applied, so there is nothing to verify");
	else if (!rc && j->state != JOURNAL_APPLIED)
		rc = err_set(e, -EINPROGRESS, STATUS_NO, j->profile, "verify",
			     "it is not wholly applied (%s); put it back with 'kbtune restore'",
			     journal_state_name(j->state));
	if (rc && rc != -ENOENT && j->profile)
		journal_free(j);
	return rc ? failed(e) : STATUS_OK;
}

void print_drift(const struct journal *j, const struct drift *d)
{
	const json_t *one;
	size_t i;

	printf("%s: %zu changes, %zu drifted, %zu pending\n", *j->profile ? j->profile : "single commands", j->count,
	       d->drifted, d->pending);
	json_array_foreach (d->list, i, one)
		printf("  %-8s %s: %s -> %s\n", json_string_value(json_object_get(one, "state")),
		       json_string_value(json_object_get(one, "path")), json_string_value(json_object_get(one, "want")),
		       json_string_value(json_object_get(one, "now")));
}

json_t *verified_json(const struct journal *j, const struct drift *d)
{
	return json_pack("{s:i, s:s, s:b, s:I, s:I, s:O}", "schema", 1, "profile", j->profile, "as_applied",
			 !d->drifted, "drifted", (json_int_t)d->drifted, "pending", (json_int_t)d->pending,
			 "differences", d->list);
}

static enum status verify(struct machine *m, const struct cli_list *args, void *request, struct err *e)
{
	const struct request *r = request;
	struct journal j = {0};
	struct drift d;
	enum status status = load_applied(m, &j, e);

	(void)args;
	if (status)
		return status;
	transaction_verify(m, &j, &d);
	if (r->json)
		say_json(verified_json(&j, &d), NULL, SAY_JSON);
	else
		print_drift(&j, &d);
	status = d.drifted ? STATUS_NO : STATUS_OK;
	json_decref(d.list);
	journal_free(&j);
	return status;
}

enum status tune_verify(int argc, char **argv, struct err *e)
{
	struct request r = {0};
	const struct cli_flag flags[] = {COMMAND_SYSROOT(&r.sysroot), COMMAND_JSON(&r.json), COMMAND_FLAGS_END};

	return command_run(&(struct command){&tune_verify_cli, flags, &r.sysroot, verify, &r}, argc, argv, e);
}

/* ------------------------------------------------------------------------------------------------------ restore -- */

const struct cli_command tune_restore_cli = {
    .name = "restore",
    .synopsis = "[--sysroot DIR] [--dry-run] [--json]",
    .summary =
	"Undo everything that the journal has, last change first: after an apply, after a crash in the middle of one, "
	"in any process. With nothing to restore it does nothing.",
    .min_args = 0,
    .max_args = 0,
};

static enum status show_undo(struct machine *m, struct err *e)
{
	struct journal j = {0};
	int rc = state_folder_open(m, false, e);

	if (!rc)
		rc = journal_load(m, &j, e);
	if (rc == -ENOENT) {
		printf("nothing to restore\n");
		return STATUS_OK;
	}
	if (rc)
		return failed(e);
	if (j.moot)
		printf("the journal is of an earlier boot: nothing to put back\n");
	for (size_t i = j.count; !j.moot && i-- > 0;)
		if (strcmp(j.steps[i].before, j.steps[i].after))
			printf("  %-16s %s: %s -> %s\n", j.steps[i].knob, j.steps[i].path, j.steps[i].after,
			       j.steps[i].before);
	journal_free(&j);
	return STATUS_OK;
}

static enum status restore(struct machine *m, const struct cli_list *args, void *request, struct err *e)
{
	const struct request *r = request;

	(void)args;
	return r->dry_run ? show_undo(m, e) : restore_all(m, r->json ? SAY_JSON : SAY_TEXT, e);
}

enum status tune_restore(int argc, char **argv, struct err *e)
{
	struct request r = {0};
	const struct cli_flag flags[] = {COMMAND_SYSROOT(&r.sysroot),
					 {"dry-run", CLI_FLAG, &r.dry_run, NULL, "show what would be put back", 0, 0},
					 COMMAND_JSON(&r.json),
					 COMMAND_FLAGS_END};

	return command_run(&(struct command){&tune_restore_cli, flags, &r.sysroot, restore, &r}, argc, argv, e);
}

/* ------------------------------------------------------------------------------------------------------- status -- */

const struct cli_command tune_status_cli = {
    .name = "status",
    .synopsis = "[--sysroot DIR] [--json]",
    .summary = "What is applied, since when, and how the machine stands: CPUs, cpusets, PM QoS, tuned, irqbalance.",
    .min_args = 0,
    .max_args = 0,
};

static json_t *status_json(struct machine *m, const struct journal *j, struct err *e)
{
	char cpus[512], active[256] = "", folder[5200];
	struct topology topo;
	struct cgroups cg;
	long long us;
	json_t *all;

	if (topology_read(m, &topo, e))
		return NULL;
	cgroups_find(m, &cg);
	all = json_pack("{s:i, s:s, s:s, s:s, s:I, s:s, s:I, s:i, s:s, s:b}", "schema", 1, "state",
			!j->profile ? "nothing applied"
			: j->moot   ? "moot"
				    : journal_state_name(j->state),
			"profile", j->profile ? j->profile : "", "since", j->applied ? j->applied : "", "changes",
			(json_int_t)j->count, "online_cpus", cpulist_format(&topo.online, cpus, sizeof(cpus)),
			"numa_nodes", (json_int_t)topo.node_count, "cpuset_version", cg.version, "journal",
			state_folder_path(m, folder, sizeof(folder)), "irqbalance", tasks_find(m, "irqbalance") != 0);
	if (m->root.live && !latency_read(m, &us))
		json_object_set_new(all, "dma_latency_us", json_integer(us));
	if (m->root.live && tuned_daemon(m) && tuned_active(active, sizeof(active)))
		json_object_set_new(all, "tuned_daemon_profile", json_string(active));
	if (j->about && json_object_get(j->about, "shields"))
		json_object_set(all, "shields", json_object_get(j->about, "shields"));
	topology_free(&topo);
	return all;
}

static void print_status(const json_t *all)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)all, key, value) {
		const json_t *shield;
		size_t i;

		if (!strcmp(key, "schema"))
			continue;
		if (json_is_string(value) && *json_string_value(value))
			printf("%-22s %s\n", key, json_string_value(value));
		else if (json_is_integer(value))
			printf("%-22s %lld\n", key, (long long)json_integer_value(value));
		else if (json_is_boolean(value))
			printf("%-22s %s\n", key, json_is_true(value) ? "running" : "not running");
		json_array_foreach (value, i, shield)
			printf("%-22s %s: CPUs %s\n", "shield", json_string_value(json_object_get(shield, "name")),
			       json_string_value(json_object_get(shield, "cpus")));
	}
}

static enum status show_status(struct machine *m, const struct cli_list *args, void *request, struct err *e)
{
	const struct request *r = request;
	struct journal j = {0};
	json_t *all;
	int rc = state_folder_open(m, false, e);

	(void)args;
	if (!rc)
		rc = journal_load(m, &j, e);
	if (rc && rc != -ENOENT)
		return failed(e);
	all = status_json(m, &j, e);
	journal_free(&j);
	if (!all)
		return failed(e);
	if (r->json)
		json_print(all, stdout);
	else
		print_status(all);
	json_decref(all);
	return STATUS_OK;
}

enum status tune_status(int argc, char **argv, struct err *e)
{
	struct request r = {0};
	const struct cli_flag flags[] = {COMMAND_SYSROOT(&r.sysroot), COMMAND_JSON(&r.json), COMMAND_FLAGS_END};

	return command_run(&(struct command){&tune_status_cli, flags, &r.sysroot, show_status, &r}, argc, argv, e);
}
