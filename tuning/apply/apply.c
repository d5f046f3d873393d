/* What the commands that change something share: the journal in hand, a profile applied, everything restored. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/json.h"
#include "tuning/commands/tune_commands.h"
#include "tuning/journal/journal.h"
#include "tuning/journal/transaction.h"
#include "tuning/knobs/knobs.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/state_folder.h"
#include "tuning/ops/op_tuned.h"

enum status failed(const struct err *e)
{
	return e->status ? e->status : STATUS_FAILED;
}

static int refuse_unfinished(const struct journal *j, struct err *e)
{
	return err_set(e, -EEXIST, STATUS_FAILED, NULL, NULL,
		       "a change of this machine (%s, %s) was cut short; put it back with 'kbtune restore' first",
		       *j->profile ? j->profile : "single commands", journal_state_name(j->state));
}

int session_begin(struct machine *m, const char *profile, struct journal *j, int *lock, struct err *e)
{
	int rc = state_folder_open(m, true, e);

	*j = (struct journal){0};
	if (rc)
		return rc;
	*lock = journal_lock(m, e);
	if (*lock < 0)
		return *lock;
	rc = journal_load(m, j, e);
	if (!rc && j->moot) {
		fprintf(stderr, "kbtune: a journal of an earlier boot is moot, and removed\n");
		journal_free(j);
		rc = journal_remove(m, e);
		rc = rc ? rc : -ENOENT;
	}
	if (!rc && j->state != JOURNAL_APPLIED)
		rc = refuse_unfinished(j, e);
	if (rc == -ENOENT) {
		journal_init(j, m, profile);
		rc = 0;
	}
	if (rc)
		session_end(j, *lock);
	return rc;
}

void session_end(struct journal *j, int lock)
{
	journal_free(j);
	close(lock);
}

static int refuse_applied(const struct journal *j, const char *name, struct err *e)
{
	return err_set(e, -EEXIST, STATUS_FAILED, name, "apply",
		       "%s%s is applied since %s; 'kbtune restore' first, or --replace",
		       *j->profile ? "profile " : "what single commands did", j->profile, j->applied);
}

/* What is applied already has to go first. */
static int make_room(struct machine *m, const char *name, bool replace, struct journal *j, struct err *e)
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

static int check_strict(const struct plan *p, struct err *e)
{
	if (!p->missing_count)
		return 0;
	return err_set(e, -ENOTSUP, STATUS_IMPOSSIBLE, p->profile, "apply all of it",
		       "%zu settings are not possible here (--strict), first %s %s: %s", p->missing_count,
		       p->missing[0].knob, p->missing[0].object, p->missing[0].reason);
}

static void remember(struct journal *j, const struct plan *p)
{
	json_t *all = plan_to_json(p);

	json_object_del(all, "steps");
	json_object_set_new(all, "run", json_integer(getpid()));
	json_decref(j->about);
	j->about = all;
}

static json_t *steps_json(const struct journal *j, size_t from)
{
	json_t *list = json_array();

	for (size_t i = from; i < j->count; i++)
		json_array_append_new(list, step_to_json(&j->steps[i]));
	return list;
}

void say_json(json_t *all, const char *type, enum say say)
{
	json_t *line;

	if (say == SAY_LINE) {
		line = json_pack("{s:s}", "type", type);
		json_object_update(line, all);
		json_dumpf(line, stdout, JSON_COMPACT);
		putchar('\n');
		fflush(stdout);
		json_decref(line);
	} else {
		json_print(all, stdout);
	}
	json_decref(all);
}

static double tuned_time(const struct journal *j, size_t from)
{
	double sum = 0;

	for (size_t i = from; i < j->count; i++)
		if (j->steps[i].op == &op_tuned)
			sum += j->steps[i].took_s;
	return sum;
}

/* "0.31 s, and tuned took 2.4 s" */
static char *times_text(double all_s, double tuned_s, char *buf, size_t size)
{
	int n = snprintf(buf, size, "%.2g s", all_s - tuned_s);

	if (tuned_s > 0 && n > 0 && (size_t)n < size)
		snprintf(buf + n, size - (size_t)n, ", and tuned took %.2g s", tuned_s);
	return buf;
}

static void add_times(json_t *all, double all_s, double tuned_s)
{
	json_object_set_new(all, "took_us", json_integer((json_int_t)(1e6 * (all_s - tuned_s))));
	json_object_set_new(all, "tuned_took_us", json_integer((json_int_t)(1e6 * tuned_s)));
}

static void say_applied(const struct journal *j, size_t from, const struct plan *p, double began, enum say say)
{
	double all_s = transaction_now_s() - began, tuned_s = tuned_time(j, from);
	char times[64];
	json_t *all;

	if (say == SAY_NOTHING)
		return;
	if (say == SAY_TEXT) {
		printf("applied %s in %s: %zu changes, %zu not possible here; 'kbtune restore' puts everything back\n",
		       p->profile, times_text(all_s, tuned_s, times, sizeof(times)), j->count - from, p->missing_count);
		for (size_t i = from; i < j->count; i++)
			if (j->steps[i].note)
				printf("  %s: %s\n", j->steps[i].path, j->steps[i].note);
		return;
	}
	all = plan_to_json(p);
	json_object_set_new(all, "state", json_string("applied"));
	json_object_set_new(all, "steps", steps_json(j, from));
	add_times(all, all_s, tuned_s);
	say_json(all, "applied", say);
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
		rc = check_strict(&plan, e);
	if (!rc)
		rc = transaction_probe(m, &plan, e);
	if (!rc) {
		remember(j, &plan);
		rc = transaction_apply(m, &plan, j, e);
	}
	if (!rc)
		say_applied(j, 0, &plan, began, o->say);
	plan_free(&plan);
	if (profile_has_faults(profile))
		return STATUS_USAGE;
	return rc ? failed(e) : STATUS_OK;
}

/* Others than root hear what they lack before anything is made for them. */
static int probe_first(struct machine *m, struct profile *profile, struct err *e)
{
	struct plan plan;
	int rc;

	if (!m->root.live || geteuid() == 0)
		return 0;
	rc = knobs_plan(m, profile, &plan, e);
	if (!rc)
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

	if (profile_load(name, knobs_keys(), &profile, e)) {
		profile_print_faults(&profile, stderr);
	} else if (probe_first(m, &profile, e) || session_begin(m, profile.name, &j, &lock, e)) {
		status = failed(e);
	} else {
		status = make_room(m, profile.name, o->replace, &j, e) ? failed(e)
								       : apply_plan(m, &profile, o, began, &j, e);
		session_end(&j, lock);
	}
	profile_free(&profile);
	return status;
}

/* What is applied already, or was cut short, refuses us. */
static int check_room(struct machine *m, const char *name, bool replace, struct err *e)
{
	struct journal j = {0};
	int rc = state_folder_open(m, false, e);

	if (!rc)
		rc = journal_load(m, &j, e);
	if (!rc && !j.moot && j.state != JOURNAL_APPLIED)
		rc = refuse_unfinished(&j, e);
	else if (!rc && !j.moot && !replace)
		rc = refuse_applied(&j, name, e);
	journal_free(&j);
	return rc == -ENOENT ? 0 : rc;
}

static void show_plan(const struct plan *plan, enum say say)
{
	if (say == SAY_TEXT)
		plan_print(plan, stdout);
	else
		say_json(plan_to_json(plan), "plan", say);
}

enum status check_profile(struct machine *m, const char *name, const struct apply_options *o, struct err *e)
{
	enum status status = STATUS_USAGE;
	struct plan plan = {0};
	struct profile profile;
	int rc = profile_load(name, knobs_keys(), &profile, e);

	if (!rc)
		rc = knobs_plan(m, &profile, &plan, e);
	profile_print_faults(&profile, stderr);
	if (!profile_has_faults(&profile)) {
		if (!rc && o->strict)
			rc = check_strict(&plan, e);
		if (!rc)
			rc = transaction_probe(m, &plan, e);
		if (!rc)
			rc = check_room(m, name, o->replace, e);
		if (!rc)
			show_plan(&plan, o->say);
		status = rc ? failed(e) : STATUS_OK;
	}
	plan_free(&plan);
	profile_free(&profile);
	return status;
}

static void say_restored(const char *profile, const struct undone *done, const char *state, double began, enum say say)
{
	double all_s = transaction_now_s() - began;
	char times[64];
	json_t *all;

	if (say == SAY_NOTHING)
		return;
	if (say == SAY_TEXT) {
		if (!strcmp(state, "none"))
			printf("nothing to restore\n");
		else if (!strcmp(state, "moot"))
			printf("the journal is of an earlier boot: nothing to put back, removed\n");
		else
			printf("restored %s in %s: %zu changes undone\n", *profile ? profile : "single commands",
			       times_text(all_s, done->tuned_s, times, sizeof(times)), done->steps);
		return;
	}
	all = json_pack("{s:i, s:s, s:s, s:I}", "schema", 1, "state", state, "profile", profile, "undone",
			(json_int_t)done->steps);
	add_times(all, all_s, done->tuned_s);
	say_json(all, "restored", say);
}

static enum status restore_locked(struct machine *m, double began, enum say say, struct err *e)
{
	struct undone done = {0};
	struct journal j;
	int rc = journal_load(m, &j, e);

	if (rc == -ENOENT) {
		say_restored("", &done, "none", began, say);
		return STATUS_OK;
	}
	if (rc)
		return failed(e);
	if (j.moot)
		rc = journal_remove(m, e);
	else
		rc = transaction_undo(m, &j, NULL, NULL, &done, e);
	if (!rc)
		say_restored(j.profile, &done, j.moot ? "moot" : "restored", began, say);
	journal_free(&j);
	return rc ? failed(e) : STATUS_OK;
}

enum status restore_all(struct machine *m, enum say say, struct err *e)
{
	double began = transaction_now_s();
	enum status status;
	int rc = state_folder_open(m, false, e), lock;

	if (rc == -ENOENT) {
		say_restored("", &(struct undone){0}, "none", began, say);
		return STATUS_OK;
	}
	if (rc)
		return failed(e);
	lock = journal_lock(m, e);
	if (lock < 0)
		return failed(e);
	status = restore_locked(m, began, say, e);
	close(lock);
	return status;
}

enum status apply_single(struct machine *m, const struct plan *plan, bool dry_run, bool json, struct err *e)
{
	double began = transaction_now_s();
	struct journal j;
	int lock, rc;
	size_t from;

	if (dry_run) {
		show_plan(plan, json ? SAY_JSON : SAY_TEXT);
		return STATUS_OK;
	}
	if (!plan->step_count && plan->missing_count) {
		err_set(e, -ENOTSUP, STATUS_IMPOSSIBLE, plan->missing[0].object, "change", "%s",
			plan->missing[0].reason);
		return failed(e);
	}
	rc = transaction_probe(m, plan, e);
	if (rc || session_begin(m, "", &j, &lock, e))
		return failed(e);
	from = j.count;
	rc = transaction_apply(m, plan, &j, e);
	if (!rc)
		say_applied(&j, from, plan, began, json ? SAY_JSON : SAY_TEXT);
	session_end(&j, lock);
	return rc ? failed(e) : STATUS_OK;
}
