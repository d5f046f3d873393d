/* What the commands that change something share: the journal in hand, a profile applied, everything restored. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/json.h"
#include "tuning/commands.h"
#include "tuning/journal.h"
#include "tuning/knob.h"
#include "tuning/machine.h"
#include "tuning/transaction.h"

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
	int rc = journal_open(m, true, e);

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

/* What is applied already has to go first. */
static int make_room(struct machine *m, const char *name, bool replace, struct journal *j, struct err *e)
{
	int rc;

	if (!j->count)
		return 0;
	if (!replace)
		return err_set(e, -EEXIST, STATUS_FAILED, name, "apply",
			       "%s%s is applied since %s; 'kbtune restore' first, or --replace",
			       *j->profile ? "profile " : "what single commands did", j->profile, j->applied);
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

static int say_applied(const struct journal *j, size_t from, const struct plan *p, bool json)
{
	json_t *all;
	int rc;

	if (!json) {
		printf("applied %s: %zu changes, %zu not possible here; 'kbtune restore' puts everything back\n",
		       p->profile, j->count - from, p->missing_count);
		for (size_t i = from; i < j->count; i++)
			if (j->steps[i].note)
				printf("  %s: %s\n", j->steps[i].path, j->steps[i].note);
		return 0;
	}
	all = plan_to_json(p);
	json_object_set_new(all, "state", json_string("applied"));
	json_object_set_new(all, "steps", steps_json(j, from));
	rc = json_print(all, stdout);
	json_decref(all);
	return rc;
}

static enum status apply_plan(struct machine *m, struct profile *profile, bool strict, bool quiet, bool json,
			      struct journal *j, struct err *e)
{
	struct plan plan;
	int rc = knobs_plan(m, profile, &plan, e);

	if (profile_has_faults(profile))
		profile_print_faults(profile, stderr);
	if (!rc && strict)
		rc = check_strict(&plan, e);
	if (!rc)
		rc = transaction_probe(m, &plan, e);
	if (!rc) {
		remember(j, &plan);
		rc = transaction_apply(m, &plan, j, e);
	}
	if (!rc && !quiet)
		say_applied(j, 0, &plan, json);
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

enum status apply_profile(struct machine *m, const char *name, bool replace, bool strict, bool quiet, bool json,
			  struct err *e)
{
	enum status status = STATUS_USAGE;
	struct profile profile;
	struct journal j;
	int lock;

	if (profile_load(name, &profile, e)) {
		profile_print_faults(&profile, stderr);
	} else if (probe_first(m, &profile, e) || session_begin(m, profile.name, &j, &lock, e)) {
		status = failed(e);
	} else {
		status = make_room(m, profile.name, replace, &j, e)
			     ? failed(e)
			     : apply_plan(m, &profile, strict, quiet, json, &j, e);
		session_end(&j, lock);
	}
	profile_free(&profile);
	return status;
}

static void say_restored(const char *profile, size_t done, const char *state, bool json, bool quiet)
{
	json_t *all;

	if (quiet)
		return;
	if (!json) {
		if (!strcmp(state, "none"))
			printf("nothing to restore\n");
		else if (!strcmp(state, "moot"))
			printf("the journal is of an earlier boot: nothing to put back, removed\n");
		else
			printf("restored %s: %zu changes undone\n", *profile ? profile : "single commands", done);
		return;
	}
	all = json_pack("{s:i, s:s, s:s, s:I}", "schema", 1, "state", state, "profile", profile, "undone",
			(json_int_t)done);
	json_print(all, stdout);
	json_decref(all);
}

static enum status restore_locked(struct machine *m, bool json, bool quiet, struct err *e)
{
	struct journal j;
	size_t done = 0;
	int rc = journal_load(m, &j, e);

	if (rc == -ENOENT) {
		say_restored("", 0, "none", json, quiet);
		return STATUS_OK;
	}
	if (rc)
		return failed(e);
	if (j.moot)
		rc = journal_remove(m, e);
	else
		rc = transaction_undo(m, &j, NULL, NULL, &done, e);
	if (!rc)
		say_restored(j.profile, done, j.moot ? "moot" : "restored", json, quiet);
	journal_free(&j);
	return rc ? failed(e) : STATUS_OK;
}

enum status restore_all(struct machine *m, bool json, bool quiet, struct err *e)
{
	enum status status;
	int rc = journal_open(m, false, e), lock;

	if (rc == -ENOENT) {
		say_restored("", 0, "none", json, quiet);
		return STATUS_OK;
	}
	if (rc)
		return failed(e);
	lock = journal_lock(m, e);
	if (lock < 0)
		return failed(e);
	status = restore_locked(m, json, quiet, e);
	close(lock);
	return status;
}

enum status apply_single(struct machine *m, const struct plan *plan, bool dry_run, bool json, struct err *e)
{
	struct journal j;
	int lock, rc;
	size_t from;

	if (dry_run) {
		json_t *all = plan_to_json(plan);

		if (json)
			json_print(all, stdout);
		else
			plan_print(plan, stdout);
		json_decref(all);
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
		say_applied(&j, from, plan, json);
	session_end(&j, lock);
	return rc ? failed(e) : STATUS_OK;
}
