#include "tuning/apply/apply.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/text.h"
#include "tuning/journal/change.h"
#include "tuning/journal/transaction.h"
#include "tuning/knobs/knob_settings.h"
#include "tuning/knobs/knobs.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/state_folder.h"
#include "tuning/ops/op_tuned.h"

static int refuse_applied(const struct journal *j, const char *name, struct err *e)
{
	return err_set(e, -EEXIST, STATUS_FAILED, name, "apply",
		       "%s%s has been applied since %s; run 'kbtune restore' first, or use --replace",
		       *j->profile ? "profile " : "what single commands did", j->profile, j->applied);
}

/* An applied profile must be restored first. */
static int undo_applied(struct machine *m, const char *name, bool replace, struct journal *j, struct err *e)
{
	int rc;

	if (!j->count)
		return 0;
	if (!replace)
		return refuse_applied(j, name, e);
	rc = transaction_undo(m, j, NULL, NULL, NULL, e);
	if (!rc) {
		journal_free(j);
		journal_init(j, m, name);
	}
	return rc;
}

static void remember(struct journal *j, const struct plan *p, const char *owner)
{
	json_t *all = plan_to_json(p);

	json_object_del(all, "steps");
	json_decref(j->about);
	j->about = all;
	journal_set_owner(j, owner);
}

static json_t *steps_json(const struct journal *j, size_t from)
{
	json_t *list = json_array();

	for (size_t i = from; i < j->count; i++)
		json_array_append_new(list, step_to_show(&j->steps[i]));
	return list;
}

static double tuned_time(const struct journal *j, size_t from)
{
	double sum = 0;

	for (size_t i = from; i < j->count; i++)
		if (j->steps[i].op == &op_tuned)
			sum += j->steps[i].took_s;
	return sum;
}

static void print_changes(const struct journal *j, size_t from, const struct plan *p, double began, enum output output)
{
	double all_s = transaction_now_s() - began, tuned_s = tuned_time(j, from);
	char times[64];
	json_t *all;

	if (output == OUTPUT_TEXT) {
		printf("applied %s in %s: %zu changes, %zu not possible here; 'kbtune restore' restores everything\n",
		       p->profile, output_times(all_s, tuned_s, times, sizeof(times)), journal_changes(j, from),
		       p->missing_count);
		for (size_t i = 0; i < json_array_size(p->without); i++)
			printf("  left out (--without): %s\n", json_string_value(json_array_get(p->without, i)));
		for (size_t i = from; i < j->count; i++)
			if (j->steps[i].note)
				printf("  %s: %s\n", j->steps[i].path, j->steps[i].note);
		for (size_t i = 0; i < p->missing_count; i++)
			printf("  not possible here: %s %s: %s\n", p->missing[i].knob, p->missing[i].object,
			       p->missing[i].reason);
		return;
	}
	all = plan_to_json(p);
	json_object_set_new(all, "state", json_string("applied"));
	json_object_set_new(all, "steps", steps_json(j, from));
	output_add_times(all, all_s, tuned_s);
	output_json(all, "applied", output);
}

static void print_applied(const struct journal *j, size_t from, const struct plan *p, double began, enum output output)
{
	if (output == OUTPUT_NOTHING)
		return;
	print_changes(j, from, p, began, output);
	output_settle("%s is applied ('kbtune restore' restores everything)", p->profile);
}

static enum status apply_plan(struct machine *m, struct profile *profile, const struct apply_options *o, double began,
			      struct journal *j, struct err *e)
{
	struct plan plan;
	int rc = knobs_plan(m, profile, &plan, e);

	if (profile_has_faults(profile))
		profile_print_faults(profile, stderr);
	plan.strict = o->strict;
	if (!rc && o->strict)
		rc = plan_check_strict(&plan, stderr, e);
	if (!rc)
		rc = transaction_probe(m, &plan, e);
	if (!rc) {
		remember(j, &plan, o->owner);
		rc = transaction_apply(m, &plan, j, e);
	}
	if (!rc)
		print_applied(j, 0, &plan, began, o->output);
	plan_free(&plan);
	if (profile_has_faults(profile))
		return STATUS_USAGE;
	return rc ? err_status(e) : STATUS_OK;
}

/* A command that could not be run there. */
static int check_in(const struct machine *m, const struct plan *p, const char *in, struct err *e)
{
	const char *names[SHIELDS_MAX + 1] = {NULL};
	char hint[SUGGESTION_MAX];

	for (size_t i = 0; in && i < p->shield_count; i++) {
		names[i] = p->shields[i].name;
		if (!strcmp(in, names[i]))
			return 0;
	}
	return in && !cgroups_has(m, in)
		   ? err_set(e, -ENOENT, STATUS_USAGE, "--in", NULL, "profile %s has no shield '%s'%s", p->profile,
			     text_shown(in), suggestion(suggest(in, names), hint, sizeof(hint)))
		   : 0;
}

/* Before anything is changed, and what is applied is replaced: users other than root are told which capabilities are
 * missing, --strict refuses, and so does --in. */
static int probe_first(struct machine *m, struct profile *profile, const struct apply_options *o, struct err *e)
{
	const bool any_rights = !m->root.live || geteuid() == 0, any_loss = !o->strict || !o->replace;
	struct plan plan;
	int rc;

	if (any_rights && any_loss && !o->in)
		return 0;
	rc = knobs_plan(m, profile, &plan, e);
	if (!rc && !profile_has_faults(profile))
		rc = check_in(m, &plan, o->in, e);
	if (!rc && !any_loss)
		rc = plan_check_strict(&plan, stderr, e);
	if (!rc && !any_rights)
		rc = transaction_probe(m, &plan, e);
	plan_free(&plan);
	return profile_has_faults(profile) ? 0 : rc;
}

enum status apply_profile(struct machine *m, const char *name, const struct apply_options *o, struct err *e)
{
	double began = transaction_now_s();
	enum status status = STATUS_USAGE;
	struct profile profile;
	struct journal j;
	int lock;

	if (knobs_load(m, name, &o->without, &profile, e)) {
		profile_print_faults(&profile, stderr);
	} else if (probe_first(m, &profile, o, e) || change_begin(m, profile.name, &j, &lock, e)) {
		status = err_status(e);
	} else {
		status = undo_applied(m, profile.name, o->replace, &j, e) ? err_status(e)
									  : apply_plan(m, &profile, o, began, &j, e);
		change_end(m, &j, lock);
	}
	profile_free(&profile);
	return status;
}

/* Fails if something has already been applied, or was interrupted. */
static int check_room(struct machine *m, const char *name, bool replace, struct err *e)
{
	struct journal j = {0};
	int rc = journal_find(m, &j, e);

	if (!rc && !j.other_boot && !j.leftovers && j.state != JOURNAL_APPLIED)
		rc = change_refuse_unfinished(&j, e);
	else if (!rc && !j.other_boot && !j.leftovers && !replace)
		rc = refuse_applied(&j, name, e);
	journal_free(&j);
	return rc == -ENOENT ? 0 : rc;
}

/* `profile`: NULL if the steps do not come from one. */
static void print_plan(const struct plan *plan, const struct profile *profile, enum output output)
{
	if (output == OUTPUT_TEXT)
		plan_print(plan, stdout);
	else
		output_json(profile ? knob_settings_plan(plan, profile) : plan_to_json(plan), "plan", output);
}

enum status apply_check(struct machine *m, const char *name, const struct apply_options *o, struct err *e)
{
	enum status status = STATUS_USAGE;
	struct plan plan = {0};
	struct profile profile;
	int rc = knobs_load(m, name, &o->without, &profile, e);

	if (!rc)
		rc = knobs_plan(m, &profile, &plan, e);
	profile_print_faults(&profile, stderr);
	if (!profile_has_faults(&profile)) {
		if (!rc && o->strict)
			rc = plan_check_strict(&plan, stderr, e);
		if (!rc)
			rc = transaction_probe(m, &plan, e);
		if (!rc)
			rc = check_room(m, name, o->replace, e);
		if (!rc)
			print_plan(&plan, &profile, o->output);
		status = rc ? err_status(e) : STATUS_OK;
	}
	plan_free(&plan);
	profile_free(&profile);
	return status;
}

enum status apply_steps(struct machine *m, const struct plan *plan, bool dry_run, bool json, struct err *e)
{
	double began = transaction_now_s();
	struct journal j;
	int lock, rc;
	size_t from;

	if (dry_run) {
		print_plan(plan, NULL, json ? OUTPUT_JSON : OUTPUT_TEXT);
		return plan->strict && plan_check_strict(plan, NULL, e) ? err_status(e) : STATUS_OK;
	}
	if (!plan->step_count && plan->missing_count) {
		err_set(e, -ENOTSUP, STATUS_IMPOSSIBLE, plan->missing[0].object, "change", "%s",
			plan->missing[0].reason);
		return err_status(e);
	}
	rc = plan->strict ? plan_check_strict(plan, stderr, e) : 0;
	if (!rc)
		rc = transaction_probe(m, plan, e);
	if (rc || change_begin(m, "", &j, &lock, e))
		return err_status(e);
	from = j.count;
	rc = transaction_apply(m, plan, &j, e);
	if (!rc)
		print_applied(&j, from, plan, began, json ? OUTPUT_JSON : OUTPUT_TEXT);
	change_end(m, &j, lock);
	return rc ? err_status(e) : STATUS_OK;
}
