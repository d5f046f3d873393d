/*
 * All pairs of hosts: a kind of study that measures one experiment between every two hosts, in rounds of disjoint pairs
 * at the same time. Its directory also has
 *
 *     runs/            run directories
 *     derived/         report.html, the matrices as figures and tables
 *
 * If it was interrupted, `kblat run --resume` continues it; completed pairs are not measured again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/diag.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "measure/run/forecast.h"
#include "measure/run/preflight.h"
#include "measure/run/run.h"
#include "report/verdict_format.h"
#include "study/kinds.h"
#include "study/pairs/pairs_answer.h"
#include "study/pairs/pairs_plan.h"
#include "study/runner.h"
#include "study/study_record.h"

#define LOST_AFTER 3   /* after this many consecutive failures, a host is left out */
#define OVERHEAD_S 0.5 /* of a run: for starting and sealing */

/* The launcher, if no other is given. */
#define PAIRS_LAUNCHER "ssh -o BatchMode=yes -o ConnectTimeout=10 {host}"

/* --- the plan --- */

/* Load the spec as the first pair would, so that errors are reported before anything starts. */
static int load_as_first_pair(const struct study *s, const struct study_request *r, struct spec *spec)
{
	const struct study_host *host = s->hosts.item;
	struct spec_overrides own = r->overrides;
	struct words set = {NULL, 0};
	struct diag diag;
	int rc;

	for (size_t i = 0; i < own.set_count; i++)
		words_add(&set, study_hosts_fill(own.set[i], &host[0], &host[1], NULL));
	own.set = (const char *const *)set.word;
	rc = spec_load(r->path, &own, spec, &diag);
	diag_print(&spec->warnings, stderr);
	if (rc)
		diag_print(&diag, stderr);
	diag_free(&diag);
	words_free(&set);
	return rc;
}

/* Without --source and --sink, ssh; without --state, the states of all hosts would be thousands of files. */
static void take_options(struct study *s, const struct study_request *r)
{
	char **const launchers[] = {&s->options.source, &s->options.sink};

	for (size_t i = 0; i < 2; i++)
		if (!*launchers[i])
			*launchers[i] = fs_path("%s", PAIRS_LAUNCHER);
	s->options.no_state = !r->state;
}

static enum status take_spec(struct study *s, const struct study_request *r, const struct spec *spec, struct err *e)
{
	struct pairs_plan *plan = or_abort(calloc(1, sizeof(*plan)));
	struct forecast sum;

	s->plan = plan;
	s->name = fs_path("%s", spec->name);
	s->parent = run_parent(spec, r->out);
	s->spec = realpath(r->path, NULL);
	if (!s->spec)
		return err_sys(e, -errno, r->path, "find"), err_status(e);
	sum = forecast_run(spec, s->parent, NULL);
	*plan = (struct pairs_plan){spec->point_count, forecast_seconds(&sum) + OVERHEAD_S};
	pairs_plan_cells(s);
	return STATUS_OK;
}

static enum status plan_pairs(struct study *s, const struct study_request *r, struct err *e)
{
	struct spec spec;
	enum status status;

	if (study_hosts_read(&s->hosts, r->hosts, e))
		return err_status(e);
	take_options(s, r);
	status = load_as_first_pair(s, r, &spec) ? STATUS_USAGE : take_spec(s, r, &spec, e);
	spec_free(&spec);
	return status;
}

/* Better checked now than failing in the middle. */
static enum status check_files(struct study *s, const struct study_request *r, struct err *e)
{
	(void)r;
	if (s->hosts.count < 2)
		return err_set(e, -EINVAL, STATUS_USAGE, s->path, NULL, "it has fewer than two hosts"), err_status(e);
	return preflight_files(pairs_plan_at_once(s), "pairs", RUNNER_FILES, e) ? err_status(e) : STATUS_OK;
}

/* --- rounds --- */

static const char *source_of(const struct study *s, size_t pair)
{
	return s->hosts.item[s->cell[pair].source].name;
}

static const char *sink_of(const struct study *s, size_t pair)
{
	return s->hosts.item[s->cell[pair].sink].name;
}

/* Counts each host's failures in a row. An interrupted pair does not count for or against its hosts. */
static void pair_ended(struct runner *r, size_t pair)
{
	const struct cell *c = &r->s->cell[pair];
	unsigned *failed = r->context;

	if (c->state != CELL_COMPLETED)
		fprintf(stderr, "kblat: %s - %s: %s: %s\n", source_of(r->s, pair), sink_of(r->s, pair),
			cell_states[c->state], c->why);
	if (c->state != CELL_COMPLETED && c->state != CELL_FAILED)
		return;
	failed[c->source] = c->state == CELL_FAILED ? failed[c->source] + 1 : 0;
	failed[c->sink] = c->state == CELL_FAILED ? failed[c->sink] + 1 : 0;
}

/* Measure a pair of a round, as soon as there is room for it; unless one of its hosts is lost. */
static int measure_pair(struct runner *r, size_t pair, struct err *e)
{
	struct cell *c = &r->s->cell[pair];
	const unsigned *failed = r->context;
	const char *lost = failed[c->source] >= LOST_AFTER ? source_of(r->s, pair)
			   : failed[c->sink] >= LOST_AFTER ? sink_of(r->s, pair)
							   : NULL;
	char *why;

	if (!lost)
		return runner_start(r, pair, e);
	why = fs_path("not tried: %d pairs in a row failed with %s", LOST_AFTER, lost);
	cell_set_state(c, CELL_FAILED, why);
	free(why);
	return study_record_cell(r->s, pair, e);
}

static size_t end_of_round(const struct study *s, size_t first)
{
	size_t i = first;

	while (i < s->count && s->cell[i].block == s->cell[first].block)
		i++;
	return i;
}

static bool round_is_left(const struct study *s, size_t first)
{
	const size_t end = end_of_round(s, first);

	while (first < end && !cell_is_left(&s->cell[first]))
		first++;
	return first < end;
}

/* The next round begins when all pairs of this one have ended, so no host is in two pairs at the same time. */
static int measure_round(struct runner *r, size_t first, struct err *e)
{
	const size_t end = end_of_round(r->s, first);
	int rc = 0, finished;

	for (size_t i = first; i < end; i++)
		if (!rc && !runner_is_interrupted() && cell_is_left(&r->s->cell[i]))
			rc = measure_pair(r, i, e);
	finished = runner_finish(r, e);
	return rc ?: finished;
}

static int measure_rounds(struct study *s, struct err *e)
{
	unsigned *failed = or_abort(calloc(s->hosts.count + 1, sizeof(*failed)));
	struct runner r;
	int rc = 0;

	runner_open(&r, s, pairs_plan_at_once(s));
	r.ended = pair_ended;
	r.context = failed;
	for (size_t i = 0; i < s->count && !rc && !runner_is_interrupted(); i = end_of_round(s, i)) {
		if (!s->request->quiet && round_is_left(s, i))
			fprintf(stderr, "kblat: round %zu of %zu\n", s->cell[i].block + 1,
				pairs_plan_rounds(s->hosts.count));
		rc = measure_round(&r, i, e);
	}
	runner_close(&r);
	free(failed);
	return rc;
}

/* --- the end --- */

static enum status status_of_pairs(const struct pairs_answer *a)
{
	if (runner_is_interrupted() || a->failed || a->left)
		return STATUS_FAILED;
	return pairs_answer_is_slow(a) || a->not_valid ? STATUS_NO : STATUS_OK;
}

/* If the figures cannot be drawn (without gnuplot), that is reported, but not an error: the results exist. */
static void draw_page(const struct study *s, const struct pairs_answer *a)
{
	struct err e = ERR_INIT;
	char *html;

	if (pairs_page_make(s, a, &html, &e))
		fprintf(stderr, "kblat: warning: %s\n", e.text);
	free(html);
}

/* The first thing in which a pair or (source = sink) a host stands out, as a sentence; NULL: nothing. The caller frees. */
static char *slow_text(const struct pairs_answer *a, size_t source, size_t sink)
{
	for (const struct pairs_point *p = a->point; p < a->point + a->point_count; p++)
		for (size_t q = 0; q < PAIRS_QUANTILES; q++) {
			const struct pairs_statistic *of = &p->of[q];
			const struct pairs_slow *slow = source == sink ? of->slow_host : of->slow_pair;
			size_t count = source == sink ? of->slow_hosts : of->slow_pairs;

			for (size_t i = 0; i < count; i++)
				if (slow[i].source == source && slow[i].sink == sink)
					return fs_path("stands out: %s of point %" JSON_INTEGER_FORMAT
						       " is %.3g times that of the others",
						       pairs_quantiles[q], p->id, slow[i].times);
		}
	return NULL;
}

static enum verdict_result result_of_pair(const struct cell *c, const char *slow, const char **why)
{
	*why = slow ? slow : "";
	if (c->state != CELL_COMPLETED) {
		*why = *c->why ? c->why : cell_states[c->state];
		return c->state == CELL_IMPOSSIBLE ? VERDICT_IMPOSSIBLE : VERDICT_ERROR;
	}
	for (size_t i = 0; i < c->point_count; i++)
		if (!c->point[i].valid) {
			*why = c->point[i].why;
			return VERDICT_FAIL;
		}
	return slow ? VERDICT_FAIL : VERDICT_PASS;
}

static void add_pair_verdict(struct verdict_list *list, const struct study *s, const struct pairs_answer *a,
			     const struct cell *c)
{
	char *name = fs_path("%s-%s", s->hosts.item[c->source].name, s->hosts.item[c->sink].name);
	char *slow = slow_text(a, c->source, c->sink);
	const char *why;
	enum verdict_result result = result_of_pair(c, slow, &why);
	struct verdict *v = verdict_list_add(list, "pairs", name, result);

	verdict_text(&v->why, why);
	if (c->point_count) {
		v->value = c->point[0].p50;
		v->unit = "ns";
	}
	free(name);
	free(slow);
}

static void print_pairs_list(const struct study *s, const struct pairs_answer *a, enum status status)
{
	char *sentence = pairs_answer_sentence(a);
	struct verdict_list list = verdict_list_make(s->name, status, sentence);

	verdict_list_is_of(&list, s->path);
	for (size_t i = 0; i < s->count; i++)
		add_pair_verdict(&list, s, a, &s->cell[i]);
	for (size_t i = 0; i < s->hosts.count; i++) {
		char *slow = slow_text(a, i, i);
		struct verdict *v =
		    verdict_list_add(&list, "hosts", s->hosts.item[i].name, slow ? VERDICT_FAIL : VERDICT_PASS);

		verdict_text(&v->why, slow);
		free(slow);
	}
	verdict_format_print(s->request->format, list);
	free(sentence);
}

static enum status judge_pairs_of(struct study *s, struct err *e)
{
	struct pairs_answer a = pairs_answer(s);
	const enum status status = status_of_pairs(&a);

	(void)e;
	study_set_answer(s, pairs_answer_json(s, &a));
	draw_page(s, &a);
	if (s->request->format)
		print_pairs_list(s, &a, status);
	else if (s->request->json)
		json_print(s->answer, stdout);
	else
		pairs_answer_table(s, &a, stdout);
	pairs_answer_free(&a);
	return status;
}

static int report_pairs(struct study *s, char **html, struct err *e)
{
	struct pairs_answer a = pairs_answer(s);
	const int rc = pairs_page_make(s, &a, html, e);

	pairs_answer_free(&a);
	return rc;
}

static void show_pairs(const struct study *s, const struct study_request *r)
{
	struct pairs_answer a;

	if (s->plan) {
		pairs_plan_show(s, s->plan, r->json);
		return;
	}
	a = pairs_answer(s);
	pairs_answer_table(s, &a, stdout);
	pairs_answer_free(&a);
}

const struct study_kind pairs_kind = {
    .name = "pairs",
    .suffix = "-pairs",
    .command = "kblat run",
    .runs = "runs",
    .quiet = true,
    .apart = true,
    .numbers = true,
    .plan = plan_pairs,
    .judge = judge_pairs_of,
    .show = show_pairs,
    .check = check_files,
    .measure = measure_rounds,
    .report = report_pairs,
    .cells = pairs_plan_cells,
    .plan_free = free,
};
