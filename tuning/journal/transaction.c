#include "tuning/journal/transaction.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/text.h"
#include "tuning/journal/given_up.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/signals.h"
#include "tuning/machine/topology.h"
#include "tuning/ops/op_tuned.h"
#include "tuning/steps/plan.h"

/* Add a missing capability, each only once: "CAP_SYS_ADMIN, CAP_SYS_NICE". */
static void add_right(char *rights, size_t size, const char *right)
{
	size_t n = strlen(rights);

	if (!strstr(rights, right))
		snprintf(rights + n, size - n, "%s%s", n ? ", " : "", right);
}

int transaction_probe(struct machine *m, const struct plan *p, struct err *e)
{
	char rights[256] = "", without[512] = "";
	json_t *refusals, *one;
	long long refused = 0;
	int rc;
	size_t i;

	refusals = plan_refusals(p, m, &rc);
	json_array_foreach (refusals, i, one) {
		size_t n = strlen(without);

		refused += json_integer_value(json_object_get(one, "changes"));
		if (*json_string_value(json_object_get(one, "right")))
			add_right(rights, sizeof(rights), json_string_value(json_object_get(one, "right")));
		snprintf(without + n, sizeof(without) - n, " --without %s",
			 json_string_value(json_object_get(one, "knob")));
	}
	if (rc) {
		one = json_array_get(refusals, 0);
		err_set(e, rc, STATUS_IMPOSSIBLE, p->profile, "apply",
			"%lld of %zu changes are not allowed here, first %s: %s%s%s%s%s", refused, p->step_count,
			json_string_value(json_object_get(one, "object")),
			json_string_value(json_object_get(one, "reason")), *rights ? "; run it as root, or with " : "",
			rights, p->from_profile ? "; or leave these out:" : "", p->from_profile ? without : "");
	}
	json_decref(refusals);
	return rc;
}

double transaction_now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Whether the kernel manages an interrupt, or a driver rounds a value, is only known after trying to write. */
static int refuse_left_out(const struct step *s, struct err *e)
{
	if (!json_is_true(json_object_get(s->data, "refused")) && !json_object_get(s->data, "got"))
		return 0;
	return err_set(e, -ENOTSUP, STATUS_IMPOSSIBLE, s->path, "change", "%s (--strict)", s->note);
}

static int make_step(struct machine *m, struct journal *j, struct step *s, bool strict, struct err *e)
{
	double began = transaction_now_s();
	int rc = signals_are_pending() ? err_set(e, -EINTR, STATUS_FAILED, NULL, NULL, "interrupted by a signal") : 0;

	if (!rc && s->not_begun) {
		s->not_begun = false;
		rc = journal_save(m, j, e);
		s->not_begun = rc != 0;
	}
	if (!rc)
		rc = s->op->apply(m, s, e);
	if (!rc && strict)
		rc = refuse_left_out(s, e);
	s->took_s = transaction_now_s() - began;
	return rc;
}

/* Steps after the one that fails need not be undone. */
static int make_steps(struct machine *m, struct journal *j, size_t from, bool strict, struct err *e)
{
	for (size_t i = from; i < j->count; i++) {
		int rc = make_step(m, j, &j->steps[i], strict, e);

		if (rc) {
			while (++i < j->count)
				j->steps[i].not_begun = true;
			return rc;
		}
	}
	for (size_t i = from; i < j->count; i++)
		if (j->steps[i].op->settle)
			j->steps[i].op->settle(m, &j->steps[i]);
	return 0;
}

/* A single line, however many files have disappeared with a CPU. */
static void report_gone(const struct undone *done, const char *first)
{
	if (done->gone == 1)
		fprintf(stderr, "kbtune: %s no longer exists: nothing to restore there\n", text_shown(first));
	else if (done->gone)
		fprintf(stderr, "kbtune: %s and %zu more no longer exist: nothing to restore there\n",
			text_shown(first), done->gone - 1);
}

/* A card, a disk or an interrupt may have another name now, and another one its name. */
static int undo_where_it_is(struct machine *m, const struct step *s, struct err *e)
{
	struct step now;
	int rc = step_follow(m, s, &now);

	if (rc == STEP_REPLACED)
		fprintf(stderr, "kbtune: %s: another one has its name now, and stays as it is\n", text_shown(s->path));
	if (rc)
		return STEP_GONE;
	rc = s->op->undo(m, &now, e);
	step_free(&now);
	return rc;
}

/* What is given up and cannot be undone is left as it is, and recorded. */
static int undo_one(struct machine *m, const struct step *s, struct err *e)
{
	struct err own = ERR_INIT;
	int rc = s->not_begun ? 0 : undo_where_it_is(m, s, &own);

	if (rc < 0 && json_is_true(json_object_get(s->data, STEP_GIVEN_UP)))
		rc = STEP_LEFT;
	if (rc == STEP_LEFT) {
		int failed = given_up_add(m, s, own.text, e);

		fprintf(stderr, "kbtune: %s: left as they are now: %s\n", text_shown(s->path), own.text);
		rc = failed ? failed : rc;
	} else if (rc < 0 && own.status) {
		err_set(e, rc, own.status, NULL, NULL, "%s", own.text);
	}
	return rc;
}

/* Undo the steps from..count, last one first. Steps that could not be undone are kept, without gaps. */
static int undo_steps(struct machine *m, struct journal *j, size_t from, const char *knob, const char *path,
		      struct undone *done, struct err *e)
{
	char first_gone[256] = "";
	size_t kept;
	int rc = 0;

	for (size_t i = j->count; i-- > from;) {
		struct step *s = &j->steps[i];
		double began;
		int one;

		if ((knob && strcmp(knob, s->knob)) || (path && strcmp(path, s->path)))
			continue;
		began = transaction_now_s();
		one = undo_one(m, s, e);
		if (s->op == &op_tuned)
			done->tuned_s += transaction_now_s() - began;
		/* It may reappear with a step that has not been undone yet, such as CPUs removed by SMT. */
		if (one == STEP_GONE && rc)
			continue;
		if (one < 0) {
			rc = rc ? rc : one;
			continue;
		}
		done->left += one == STEP_LEFT;
		if (one == STEP_GONE && !done->gone++)
			snprintf(first_gone, sizeof(first_gone), "%s", s->path);
		done->steps += step_is_change(s);
		step_free(s);
	}
	kept = from;
	for (size_t i = from; i < j->count; i++)
		if (j->steps[i].op)
			j->steps[kept++] = j->steps[i];
	j->count = kept;
	report_gone(done, first_gone);
	return rc;
}

static int save_or_remove(struct machine *m, const struct journal *j, struct err *e)
{
	return j->count ? journal_save(m, j, e) : journal_remove(m, e);
}

/* `e` contains the failure; add what happened to the rest. */
static void roll_back(struct machine *m, struct journal *j, size_t from, struct err *e)
{
	struct err undo = ERR_INIT, save = ERR_INIT;
	char cause[sizeof(e->text)];
	enum status status = e->status;
	struct undone done = {0};
	int rc = undo_steps(m, j, from, NULL, NULL, &done, &undo);

	j->state = rc ? JOURNAL_RESTORING : JOURNAL_APPLIED;
	if (save_or_remove(m, j, &save))
		fprintf(stderr, "kbtune: %s\n", save.text);
	snprintf(cause, sizeof(cause), "%s", e->text);
	err_clear(e);
	if (rc)
		err_set(e, rc, status, NULL, NULL,
			"%.900s; not everything could be undone: %.700s; try 'kbtune restore'", cause, undo.text);
	else
		err_set(e, -EIO, status, NULL, NULL, "%.1800s; everything is as before", cause);
}

/* Those that were offline when it was planned, as a list. */
static char *offline_then(const struct machine *m, const struct plan *p, char *buf, size_t size)
{
	struct cpulist offline;

	topology_offline(m, &offline);
	cpulist_subtract(&offline, &p->online);
	return cpulist_format(&offline, buf, size);
}

static void copy_steps(const struct machine *m, const struct plan *p, struct journal *j)
{
	char offline[CPULIST_TEXT_MAX];

	offline_then(m, p, offline, sizeof(offline));
	for (size_t i = 0; i < p->step_count; i++) {
		const struct step *s = &p->steps[i];

		step_init(journal_add(j), s->knob, s->op, s->path, s->before, s->after, json_incref(s->data));
		j->steps[j->count - 1].not_begun = s->op->creates;
		if (*offline)
			json_object_set_new(s->data, STEP_OFFLINE, json_string(offline));
		step_identify(m, &j->steps[j->count - 1]);
	}
}

static void drop_steps(struct journal *j, size_t from)
{
	while (j->count > from)
		step_free(&j->steps[--j->count]);
	j->state = JOURNAL_APPLIED;
}

int transaction_apply(struct machine *m, const struct plan *p, struct journal *j, struct err *e)
{
	size_t from = j->count;
	sigset_t before;
	int rc;

	copy_steps(m, p, j);
	j->state = JOURNAL_APPLYING;
	signals_block(&before);
	rc = journal_save(m, j, e);
	if (!rc) {
		rc = make_steps(m, j, from, p->strict, e);
		j->state = JOURNAL_APPLIED;
		if (!rc)
			rc = journal_save(m, j, e);
		if (rc)
			roll_back(m, j, from, e);
	} else {
		drop_steps(j, from);
		save_or_remove(m, j, NULL);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return rc;
}

int transaction_undo(struct machine *m, struct journal *j, const char *knob, const char *path, struct undone *done,
		     struct err *e)
{
	struct undone count = {0};
	sigset_t before;
	int rc, saved;

	signals_block(&before);
	if (!knob && !path)
		j->state = JOURNAL_RESTORING;
	rc = undo_steps(m, j, 0, knob, path, &count, e);
	saved = save_or_remove(m, j, rc ? NULL : e);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (done)
		*done = count;
	return rc ? rc : saved;
}

static enum check check_where_it_is(struct machine *m, const struct step *s, char *text, size_t size)
{
	struct step now;
	enum check c;

	if (json_is_true(json_object_get(s->data, "keep")))
		return CHECK_SAME; /* it is there to be undone, and what it is for may be gone meanwhile */
	switch (step_follow(m, s, &now)) {
	case STEP_GONE:
		return s->op->check(m, s, text, size);
	case STEP_REPLACED:
		snprintf(text, size, "another one has its name now");
		return CHECK_DRIFT;
	default:
		break;
	}
	c = s->op->check(m, &now, text, size);
	step_free(&now);
	return c;
}

void transaction_verify(struct machine *m, const struct journal *j, struct drift *d)
{
	char now[4096];

	*d = (struct drift){.list = json_array()};
	for (size_t i = 0; i < j->count; i++) {
		const struct step *s = &j->steps[i];
		const char *got = step_text(s, "got"); /* what a driver made of it */
		enum check c;

		now[0] = '\0';
		c = check_where_it_is(m, s, now, sizeof(now));
		if (c == CHECK_SAME)
			continue;
		d->drifted += c == CHECK_DRIFT;
		d->pending += c == CHECK_PENDING;
		json_array_append_new(d->list, json_pack("{s:s, s:s, s:s, s:s, s:s}", "knob", s->knob, "path", s->path,
							 "want", *got ? got : s->after, "now", now, "state",
							 c == CHECK_DRIFT ? "drift" : "pending"));
	}
}
