#include "pairs/pairs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "campaign/campaign_child.h"
#include "campaign/child_words.h"
#include "common/diag.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "pairs/pairs_answer.h"
#include "pairs/pairs_child.h"
#include "pairs/pairs_page.h"
#include "pairs/pairs_plan.h"
#include "pairs/pairs_table.h"
#include "pairs/pairs_words.h"
#include "run/forecast_run.h"
#include "run/preflight.h"
#include "run/run.h"
#include "rundir/writer.h"

#define LOST_AFTER 3   /* after this many consecutive failures, a host is left out */
#define OVERHEAD_S 0.5 /* of a run: for starting and sealing */

bool pairs_is(const char *path)
{
	char *file = fs_path("%s/pairs.json", path);
	const bool there = !access(file, F_OK);

	free(file);
	return there;
}

/* --- rounds --- */

/* The state while pairs are being measured. */
struct pairs_work {
	struct pairs *p;
	struct pairs_child *running; /* `at_once` entries */
	size_t at_once, busy;
	unsigned *failed; /* consecutive failures of each host */
};

/* An interrupted pair does not count for or against its hosts. */
static void pairs_note_hosts(struct pairs_work *w, size_t pair)
{
	const struct pairs_two two = w->p->pair[pair].two;
	const bool failed = pairs_record_is(w->p, pair, "failed");

	if (!failed && !pairs_record_is(w->p, pair, "completed"))
		return;
	w->failed[two.source] = failed ? w->failed[two.source] + 1 : 0;
	w->failed[two.sink] = failed ? w->failed[two.sink] + 1 : 0;
}

/* The host because of which this pair is not tried; NULL: it is tried. */
static const struct pairs_host *lost_host(const struct pairs_work *w, size_t pair)
{
	const struct pairs_two two = w->p->pair[pair].two;

	if (w->failed[two.source] >= LOST_AFTER)
		return pairs_record_source(w->p, pair);
	return w->failed[two.sink] >= LOST_AFTER ? pairs_record_sink(w->p, pair) : NULL;
}

static int pairs_leave_out(struct pairs_work *w, size_t pair, const struct pairs_host *host, struct err *e)
{
	char *why = fs_path("not tried: %d pairs in a row failed with %s", LOST_AFTER, host->name);
	int rc = pairs_record_add(w->p, pair, pairs_child_line(w->p, pair, "failed", why), e);

	free(why);
	return rc;
}

static void say_failure(const struct pairs *p, size_t pair)
{
	if (!pairs_record_is(p, pair, "completed"))
		fprintf(stderr, "kblat: %s - %s: %s: %s\n", pairs_record_source(p, pair)->name,
			pairs_record_sink(p, pair)->name, json_text(p->pair[pair].line, "state"),
			json_text(p->pair[pair].line, "why"));
}

static int await_one(struct pairs_work *w, struct err *e)
{
	pid_t ended;
	const int status = campaign_child_await(-1, &ended);
	size_t i = 0, pair;
	int rc;

	while (i < w->at_once && w->running[i].pid != ended)
		i++;
	if (ended <= 0 || i == w->at_once)
		return ended > 0 ? 0 : err_set(e, -ECHILD, STATUS_FAILED, "kblat", "wait for a pair", "it is gone");
	pair = w->running[i].pair;
	rc = pairs_record_add(w->p, pair, pairs_child_end(&w->running[i], w->p, status), e);
	w->busy--;
	pairs_note_hosts(w, pair);
	say_failure(w->p, pair);
	return rc;
}

static int start_one(struct pairs_work *w, size_t pair, struct err *e)
{
	size_t i = 0;
	int rc;

	while (w->running[i].pid)
		i++;
	rc = pairs_child_begin(&w->running[i], w->p, pair, e);
	if (rc)
		w->running[i].pid = 0;
	else
		w->busy++;
	return rc;
}

/* Measure a pair of a round, as soon as there is room for it. */
static int measure_pair(struct pairs_work *w, size_t pair, struct err *e)
{
	const struct pairs_host *lost = lost_host(w, pair);
	int rc = 0;

	if (lost)
		return pairs_leave_out(w, pair, lost, e);
	while (!rc && w->busy == w->at_once)
		rc = await_one(w, e);
	if (!rc && !child_is_interrupted())
		rc = start_one(w, pair, e);
	return rc;
}

/* The next round begins when all pairs of this one have ended, so no host is in two pairs at the
 * same time. Returns where the round ends. */
static size_t measure_round(struct pairs_work *w, size_t first, int *rc, struct err *e)
{
	const struct pairs *p = w->p;
	struct err ignored = ERR_INIT;
	size_t i;

	for (i = first; i < p->count && p->pair[i].round == p->pair[first].round; i++)
		if (!*rc && !child_is_interrupted() && !pairs_record_is(p, i, "completed"))
			*rc = measure_pair(w, i, e);
	while (w->busy) {
		const int waited = await_one(w, *rc ? &ignored : e);

		*rc = *rc ? *rc : waited;
		if (waited == -ECHILD)
			break;
	}
	return i;
}

static bool is_left(const struct pairs *p, size_t first)
{
	for (size_t i = first; i < p->count && p->pair[i].round == p->pair[first].round; i++)
		if (!pairs_record_is(p, i, "completed"))
			return true;
	return false;
}

/* The value of --at-once with which they were begun. */
static long pairs_at_once_asked(const struct pairs *p)
{
	return (long)json_integer_value(json_object_get(json_object_get(p->j, "options"), "at_once"));
}

static int measure_all(struct pairs *p, bool quiet, struct err *e)
{
	const size_t at_once = pairs_plan_at_once(p, pairs_at_once_asked(p));
	struct pairs_work w = {.p = p,
			       .at_once = at_once,
			       .running = or_abort(calloc(at_once + 1, sizeof(*w.running))),
			       .failed = or_abort(calloc(p->hosts.count + 1, sizeof(*w.failed)))};
	int rc = 0;

	for (size_t i = 0; i < p->count && !rc && !child_is_interrupted();) {
		if (!quiet && is_left(p, i))
			fprintf(stderr, "kblat: round %zu of %zu\n", p->pair[i].round + 1,
				pairs_schedule_rounds(p->hosts.count));
		i = measure_round(&w, i, &rc, e);
	}
	free(w.running);
	free(w.failed);
	return rc;
}

/* --- the end --- */

static enum status pairs_status(const json_t *answer)
{
	if (child_is_interrupted() || json_integer_value(json_object_get(answer, "failed")) ||
	    json_integer_value(json_object_get(answer, "left")))
		return STATUS_FAILED;
	return pairs_answer_is_slow(answer) || json_integer_value(json_object_get(answer, "not_valid")) ? STATUS_NO
													: STATUS_OK;
}

/* If the figure cannot be drawn (without gnuplot), that is reported, but not an error: the results exist. */
static void pairs_draw(const struct pairs *p)
{
	struct err e = ERR_INIT;
	char *html;

	if (pairs_page_make(p, &html, &e))
		fprintf(stderr, "kblat: warning: %s\n", e.text);
	free(html);
}

static enum status pairs_end(struct pairs *p, bool json, struct err *e)
{
	json_t *answer = pairs_answer(p);
	const enum status status = pairs_status(answer);
	char utc[32];
	int rc;

	json_object_set_new(p->j, "answer", answer);
	json_object_set_new(p->j, "status",
			    json_string(child_is_interrupted()	  ? "INTERRUPTED"
					: status == STATUS_FAILED ? "FAILED"
								  : "COMPLETED"));
	json_object_set_new(p->j, "ended_utc", json_string(utc_now(utc, sizeof(utc), 0)));
	rc = pairs_record_save(p, e);
	pairs_draw(p);
	if (json)
		json_print(answer, stdout);
	else
		pairs_table(p->j, stdout);
	if (child_is_interrupted())
		fprintf(stderr, "kblat: interrupted; `kblat run --resume %s` continues it\n", p->path);
	printf("%s\n", p->path);
	return rc ? e->status : status;
}

/* Better checked now than failing in the middle. */
static int pairs_check_files(const struct pairs *p, long at_once, struct err *e)
{
	return preflight_files(pairs_plan_at_once(p, at_once), "pairs", PAIRS_DESCRIPTORS, e);
}

static enum status pairs_work_on(struct pairs *p, const struct pairs_options *o, struct err *e)
{
	json_object_set_new(p->j, "status", json_string("RUNNING"));
	child_catch_signals();
	return pairs_record_save(p, e) || measure_all(p, o->quiet, e) ? e->status : pairs_end(p, o->json, e);
}

/* --- the beginning --- */

/* Load the spec as the first pair would, so that errors are reported before anything starts. */
static int pairs_load_spec(const struct pairs_options *o, const struct pairs *p, struct spec *spec)
{
	struct spec_overrides filled = o->overrides;
	char **set = or_abort(calloc(filled.set_count + 1, sizeof(*set)));
	struct diag diag;
	int rc;

	for (size_t i = 0; i < filled.set_count; i++)
		set[i] = pairs_words_fill(filled.set[i], &p->hosts.item[0], &p->hosts.item[1], NULL);
	filled.set = (const char *const *)set;
	rc = spec_load(o->spec, &filled, spec, &diag);
	diag_print(&spec->warnings, stderr);
	if (rc)
		diag_print(&diag, stderr);
	diag_free(&diag);
	for (size_t i = 0; i < filled.set_count; i++)
		free(set[i]);
	free(set);
	return rc;
}

static double pairs_expected(const struct spec *spec, const char *parent)
{
	const struct forecast sum = forecast_run(spec->point, spec->point_count, parent, spec->name, NULL);

	return forecast_seconds(&sum) + OVERHEAD_S;
}

static enum status pairs_start(const struct pairs_options *o, struct pairs *p, const struct spec *spec, struct err *e)
{
	char *parent = run_parent(spec, o->out), *path = realpath(o->spec, NULL);
	enum status status = STATUS_OK;

	if (o->dry_run)
		pairs_plan_show(p, spec, o->at_once, pairs_expected(spec, parent), o->json);
	else if (!path)
		status = (err_sys(e, -errno, o->spec, "find"), e->status);
	else
		status = pairs_check_files(p, o->at_once, e) || pairs_record_begin(p, o, spec->name, path, parent, e)
			     ? e->status
			     : pairs_work_on(p, o, e);
	free(path);
	free(parent);
	return status;
}

static enum status pairs_begin(const struct pairs_options *o, struct pairs *p, struct err *e)
{
	struct spec spec;
	enum status status;

	if (pairs_hosts_read(&p->hosts, o->hosts, e))
		return e->status;
	pairs_record_schedule(p);
	status = pairs_load_spec(o, p, &spec) ? STATUS_USAGE : pairs_start(o, p, &spec, e);
	spec_free(&spec);
	return status;
}

static void show_launchers(const struct pairs *p)
{
	const json_t *options = json_object_get(p->j, "options");

	child_words_show("source endpoints will be started by", json_text(options, "source"));
	child_words_show("sink endpoints will be started by", json_text(options, "sink"));
}

static enum status pairs_resume(const struct pairs_options *o, struct pairs *p, struct err *e)
{
	const struct spec_overrides *v = &o->overrides;

	if (o->hosts || o->spec || o->source || o->sink || v->set_count || v->only_count || v->quick || o->out ||
	    o->profile_path || o->mask || o->at_once || o->state)
		err_set(e, -EINVAL, STATUS_USAGE, o->resume, NULL,
			"--resume uses the original options; omit all others");
	else if (!pairs_record_resume(p, o->resume, e)) {
		show_launchers(p);
		if (o->dry_run)
			return pairs_table(p->j, stdout), STATUS_OK;
		return pairs_check_files(p, pairs_at_once_asked(p), e) ? e->status : pairs_work_on(p, o, e);
	}
	return e->status;
}

enum status pairs_run(const struct pairs_options *o, struct err *e)
{
	struct pairs p = {.lock = -1};
	const enum status status = o->resume ? pairs_resume(o, &p, e) : pairs_begin(o, &p, e);

	pairs_record_close(&p);
	return status;
}

int pairs_report(const char *dir, char **html, struct err *e)
{
	struct pairs p = {.lock = -1};
	int rc = pairs_record_open(&p, dir, e);

	*html = NULL;
	if (!rc) {
		json_object_set_new(p.j, "answer", pairs_answer(&p)); /* of the results so far */
		rc = pairs_page_make(&p, html, e);
	}
	pairs_record_close(&p);
	return rc;
}
