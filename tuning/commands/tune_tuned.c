/* kbtune tuned list, show, apply, verify, off. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/diag.h"
#include "common/form.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/text.h"
#include "tuning/apply/apply.h"
#include "tuning/apply/output.h"
#include "tuning/commands/command.h"
#include "tuning/commands/tune_commands.h"
#include "tuning/journal/change.h"
#include "tuning/journal/journal.h"
#include "tuning/journal/transaction.h"
#include "tuning/machine/exclusion.h"
#include "tuning/machine/holder.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/state_folder.h"
#include "tuning/machine/tuned.h"
#include "tuning/ops/op_tuned.h"
#include "tuning/ops/tuned_effects.h"
#include "tuning/steps/plan.h"

#define NAMES_MAX 32

const struct cli_command tune_tuned_cli = {
    .name = "tuned",
    .synopsis = "list | show [NAME]... | apply NAME... [--strict] | verify | off",
    .summary = "tuned profiles: list them, show what one changes, apply one, verify that it still holds, undo it.",
    .details = "If tuned's daemon runs, kbtune asks it to change the profile; otherwise a one-shot tuned holds the "
	       "profile. The values that a profile changes, as tuned's own code reads it, are written to the journal "
	       "first, so that they can be restored even if tuned is killed.",
    .min_args = 1,
    .max_args = 1 + NAMES_MAX,
};

struct request {
	struct machine *m;
	char *names; /* separated by spaces */
	bool json, dry_run, strict;
	struct err *e;
};

static enum status tuned_list(void *request)
{
	struct request *r = request;
	json_t *known = tuned_profiles(r->m), *list = json_array(), *summary;
	const char *name;

	json_object_foreach (known, name, summary) {
		json_array_append_new(list, json_pack("{s:s, s:O}", "name", name, "summary", summary));
		if (!r->json)
			printf("%-28s %s\n", name, json_string_value(summary));
	}
	json_decref(known);
	if (r->json)
		json_print(list, stdout);
	json_decref(list);
	return STATUS_OK;
}

static enum status check_profiles(struct request *r)
{
	char *missing = *r->names ? tuned_find_missing(r->m, r->names) : NULL, **names;
	char quoted[TEXT_QUOTE_MAX], hint[SUGGESTION_MAX];

	if (*r->names && !missing)
		return STATUS_OK;
	if (!missing) {
		err_set(r->e, -EINVAL, STATUS_USAGE, "tuned", NULL, "apply needs the name of a profile");
		return STATUS_USAGE;
	}
	names = tuned_names(r->m);
	err_set(r->e, -ENOENT, STATUS_USAGE, "tuned", NULL, "there is no profile %s%s",
		text_quote(missing, quoted, sizeof(quoted)),
		suggestion(suggest(missing, (const char *const *)names), hint, sizeof(hint)));
	sysroot_names_free(names);
	free(missing);
	return STATUS_USAGE;
}

/* What kbtune cannot record of it. */
static void print_losses(struct request *r, const json_t *resolved)
{
	struct step s;
	const json_t *one;
	size_t i;

	step_init(&s, "tuned", &op_tuned, "", "", "", NULL);
	tuned_effects_state(r->m, resolved, &s);
	json_array_foreach (step_irreversible(&s), i, one)
		printf("%s: %s\n", json_string_value(json_object_get(one, "object")),
		       json_string_value(json_object_get(one, "reason")));
	step_free(&s);
}

/* The values that profiles change, as they are and as they will be. */
static enum status show_profiles(struct request *r)
{
	char why[512];
	json_t *resolved = tuned_resolve(r->m, r->names, NULL, why, sizeof(why)), *guards, *one;
	const char *refused = json_string_value(json_object_get(resolved, "refused"));
	size_t i;

	if (!resolved || refused) {
		err_set(r->e, -EINVAL, STATUS_IMPOSSIBLE, r->names, "show", "%s", refused ? refused : why);
		json_decref(resolved);
		return STATUS_IMPOSSIBLE;
	}
	guards = tuned_effects_guards(r->m, resolved);
	if (!r->json)
		print_losses(r, resolved);
	json_decref(resolved);
	json_array_foreach (guards, i, one) {
		int form = form_find(json_string_value(json_object_get(one, "form")));
		char *value = form_value((enum form)form, json_string_value(json_object_get(one, "raw")), "");

		json_object_set_new(one, "now", json_string(value));
		json_object_del(one, "raw");
		json_object_del(one, "form");
		json_object_del(one, "beside");
		if (!r->json)
			printf("%-60s %s -> %s\n", json_string_value(json_object_get(one, "path")), value,
			       json_string_value(json_object_get(one, "want")));
		free(value);
	}
	if (r->json)
		json_print(guards, stdout);
	json_decref(guards);
	return STATUS_OK;
}

static enum status tuned_show(void *request)
{
	struct request *r = request;
	struct tuned_active active = {.answers = false};
	bool daemon;
	json_t *all;

	if (*r->names)
		return check_profiles(r) ? STATUS_USAGE : show_profiles(r);
	daemon = r->m->root.live && tuned_daemon(r->m) && tuned_active(&active);
	if (state_folder_open(r->m, false, r->e) && r->e->status)
		return err_status(r->e);
	all = json_pack("{s:i, s:b, s:s, s:i}", "schema", 1, "daemon", daemon, "active", active.profile, "oneshot_pid",
			(int)holder_pid(r->m, "tuned"));
	if (r->json)
		json_print(all, stdout);
	else
		printf("daemon: %s%s%s; one-shot: %s\n", daemon ? "running" : "not running",
		       *active.profile ? ", profile " : "", active.profile,
		       json_integer_value(json_object_get(all, "oneshot_pid")) ? "holds a profile" : "none");
	json_decref(all);
	return STATUS_OK;
}

static enum status tuned_apply_all(void *request)
{
	struct request *r = request;
	enum status status = check_profiles(r);
	struct plan plan;

	if (status)
		return status;
	plan_init(&plan, "tuned apply", "");
	plan.strict = r->strict;
	op_tuned_plan(&plan, r->m, "tuned", &(struct tuned_choice){.names = r->names});
	status = apply_steps(r->m, &plan, r->dry_run, r->json, r->e);
	plan_free(&plan);
	return status;
}

/* Keep only tuned's steps of the journal. */
static void keep_tuned(struct journal *j)
{
	size_t kept = 0;

	for (size_t i = 0; i < j->count; i++)
		if (j->steps[i].op == &op_tuned)
			j->steps[kept++] = j->steps[i];
		else
			step_free(&j->steps[i]);
	j->count = kept;
}

static enum status tuned_verify(void *request)
{
	struct request *r = request;
	struct journal j = {0};
	struct drift d;
	int rc = journal_find(r->m, &j, r->e);

	if (rc && rc != -ENOENT)
		return err_status(r->e);
	keep_tuned(&j);
	if (!j.count) {
		journal_free(&j);
		if (rc == -ENOENT && exclusion_refuse_others(r->m, "verify", r->e))
			return err_status(r->e);
		err_set(r->e, -ENOENT, STATUS_NO, NULL, NULL, "no tuned profile is applied by kbtune");
		return STATUS_NO;
	}
	transaction_verify(r->m, &j, &d);
	if (r->json)
		json_print(d.list, stdout);
	else
		printf("%s: %s\n", j.steps[0].after,
		       d.drifted ? json_string_value(json_object_get(json_array_get(d.list, 0), "now")) : "holds");
	json_decref(d.list);
	journal_free(&j);
	return d.drifted ? STATUS_NO : STATUS_OK;
}

static enum status tuned_off(void *request)
{
	struct request *r = request;
	const int undone = change_undo(r->m, "tuned", r->e);

	if (undone < 0)
		return err_status(r->e);
	printf("%s\n", undone ? "the tuned profile is undone" : "no tuned profile was applied by kbtune");
	if (undone)
		output_settle("the tuned profile is undone");
	return STATUS_OK;
}

static const struct command_action actions[] = {
    {"list", 0, 1, tuned_list},	    {"show", 0, NAMES_MAX, tuned_show}, {"apply", 0, NAMES_MAX, tuned_apply_all},
    {"verify", 0, 1, tuned_verify}, {"off", 0, 1, tuned_off},		{.name = NULL},
};

static enum status tuned_act(struct machine *m, const struct cli_list *args, void *request, struct err *e)
{
	struct request *r = request;

	enum status status;

	r->m = m;
	r->names = fs_path("%s", "");
	for (size_t i = 1; i < args->count; i++) {
		char *longer = fs_path("%s%s%s", r->names, i > 1 ? " " : "", args->items[i]);

		free(r->names);
		r->names = longer;
	}
	r->e = e;
	status = command_act("tuned", actions, args, r, e);
	free(r->names);
	return status;
}

enum status tune_tuned(int argc, char **argv, struct err *e)
{
	const char *sysroot = NULL;
	struct request r = {0};
	const struct cli_flag flags[] = {
	    {"dry-run", CLI_FLAG, &r.dry_run, NULL, "for apply: show what would be done", 0, 0},
	    {"strict", CLI_FLAG, &r.strict, NULL, "for apply: refuse what cannot be undone", 0, 0},
	    COMMAND_SYSROOT(&sysroot),
	    COMMAND_JSON(&r.json),
	    COMMAND_FLAGS_END};

	return command_run(&(struct command){&tune_tuned_cli, flags, &sysroot, tuned_act, &r}, argc, argv, e);
}
