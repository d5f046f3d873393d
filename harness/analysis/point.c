#include "analysis/point.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/flight.h"
#include "analysis/interference.h"
#include "analysis/pacing.h"
#include "analysis/rep.h"
#include "analysis/series.h"
#include "analysis/validity.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "rundir/schema.h"

/* A point that has no point.json: the run was killed, or ended, before or while it was measured. */
#define NOT_MEASURED "not measured"
#define UNFINISHED   "unfinished"

/* A point while it is summarised. */
struct work {
	const struct point_context *context;
	const char *run_path;
	struct layout layout;
	json_t *outcome;  /* point.json, or NULL */
	struct rep *reps; /* the whole ones */
	size_t rep_count;
	struct span *spans; /* room for one a repetition */
	json_t *counters;   /* of the repetitions that have them */
	struct flight flight;
	json_t *interference; /* of t_send's third thread, or NULL */
	json_int_t sent, lost;
};

static bool is_completed(const struct work *w)
{
	const char *outcome = json_string_value(json_object_get(w->outcome, "outcome"));

	return outcome && !strcmp(outcome, "completed");
}

static const char *outcome_of(const struct work *w)
{
	return json_text_or(w->outcome, "outcome", w->rep_count ? UNFINISHED : NOT_MEASURED);
}

static int read_outcome(struct work *w, struct err *e)
{
	char *path = fs_path("%s/points/%04u/point.json", w->run_path, w->layout.id);
	int rc = 0;

	if (!access(path, F_OK) || errno != ENOENT) {
		w->outcome = schema_read(DOC_POINT, path, e);
		rc = w->outcome ? 0 : -EINVAL;
	}
	free(path);
	return rc;
}

/* A killed run may leave a repetition without all of its columns. A completed point may not. */
static int keep_rep(struct work *w, struct rep *r, struct err *e)
{
	char *dir;

	if (r->is_whole && (r->counters || !is_completed(w))) {
		w->reps[w->rep_count++] = *r;
		if (r->counters)
			json_array_append(w->counters, r->counters);
		return 0;
	}
	rep_close(r);
	if (!is_completed(w))
		return 0;
	dir = layout_rep_dir(w->run_path, w->layout.id, r->number);
	err_set(e, -ENOENT, STATUS_USAGE, dir, NULL, r->is_whole ? "counters.json is missing" : "a column is missing");
	free(dir);
	return -ENOENT;
}

static int open_reps(struct work *w, struct err *e)
{
	unsigned *numbers = NULL;
	size_t count = 0;
	int rc = rep_list(w->run_path, w->layout.id, &numbers, &count, e);

	w->counters = json_array();
	w->reps = calloc(count + 1, sizeof(*w->reps));
	w->spans = calloc(count + 1, sizeof(*w->spans));
	if (!rc && (!w->reps || !w->spans))
		rc = err_sys(e, -ENOMEM, NULL, "summarise");
	for (size_t i = 0; !rc && i < count; i++) {
		struct rep r;

		rc = rep_open(w->run_path, &w->layout, numbers[i], &r, e);
		if (!rc)
			rc = keep_rep(w, &r, e);
	}
	free(numbers);
	return rc;
}

static void work_close(struct work *w)
{
	for (size_t i = 0; i < w->rep_count; i++)
		rep_close(&w->reps[i]);
	free(w->reps);
	free(w->spans);
	json_decref(w->counters);
	json_decref(w->outcome);
	json_decref(w->interference);
}

static void fill_spans(struct work *w, const struct layout_series *s)
{
	for (size_t i = 0; i < w->rep_count; i++)
		w->spans[i] = rep_span(&w->reps[i], s);
}

/* The metrics of some of the repetitions. */
static json_t *build_metrics(struct work *w, size_t first, size_t count, struct err *e)
{
	json_t *metrics = json_object();

	for (unsigned i = 0; count && i < w->layout.series_count; i++) {
		uint64_t absent = 0;
		struct stats st;

		fill_spans(w, &w->layout.series[i]);
		for (size_t r = first; r < first + count; r++)
			absent += rep_absent(&w->reps[r], &w->layout.series[i]);
		if (series_stats(&w->layout.series[i], w->spans + first, count, absent, w->layout.limit_ns, &st, e)) {
			json_decref(metrics);
			return NULL;
		}
		json_object_set_new(metrics, w->layout.series[i].name, stats_json(&st));
	}
	return metrics;
}

static json_t *build_reps(struct work *w, struct err *e)
{
	json_t *reps = json_array();

	for (size_t i = 0; reps && i < w->rep_count; i++) {
		json_t *metrics = build_metrics(w, i, 1, e);

		if (!metrics) {
			json_decref(reps);
			return NULL;
		}
		json_array_append_new(reps,
				      json_pack("{s:I, s:o, s:o*}", "rep", (json_int_t)w->reps[i].number, "metrics",
						metrics, "pacing", pacing_json(&w->layout, &w->reps[i], 1)));
	}
	return reps;
}

static json_int_t sum_counter(const struct work *w, const char *side, const char *name)
{
	json_int_t sum = 0;

	for (size_t i = 0; i < json_array_size(w->counters); i++) {
		const json_t *counters = json_object_get(json_array_get(w->counters, i), side);
		json_int_t count = json_integer_value(json_object_get(counters, name));

		if (count < 0 || __builtin_add_overflow(sum, count, &sum))
			return sum;
	}
	return sum;
}

/* From the columns of submission and reception where the kernel has both; else what the counters and the first series
 * say. */
static int find_fate(struct work *w, const json_t *metrics, struct err *e)
{
	int received = layout_column(&w->layout, "t_recv"), submitted = layout_column(&w->layout, "t_subm");
	int rc;

	if (received < 0 || submitted < 0) {
		w->sent = sum_counter(w, "source", "posted");
		w->lost =
		    json_integer_value(json_object_get(json_object_get(metrics, w->layout.series[0].name), "lost"));
		return 0;
	}
	fill_spans(w, &(struct layout_series){.column = (unsigned)received, .minus = submitted, .among = -1});
	rc = flight_compute(w->spans, w->rep_count, &w->flight, e);
	w->sent = (json_int_t)w->flight.sent;
	w->lost = (json_int_t)w->flight.lost;
	return rc;
}

static json_t *build_loss(const struct work *w)
{
	return json_pack("{s:I, s:I, s:I, s:I}", "sent", w->sent, "lost", w->lost, "duplicates",
			 sum_counter(w, "sink", "duplicates"), "reordered", sum_counter(w, "sink", "reordered"));
}

/* --- validity --- */

static void judge(struct work *w, struct validity *v)
{
	struct validity_facts facts = {
	    .params = w->layout.params,
	    .counters = w->counters,
	    .clock = w->context->clock,
	    .placement = json_object_get(w->outcome, "placement"),
	    .state = {w->context->state[0], w->context->state[1]},
	    /* A repetition that was broken off leaves messages on the way: not lost, and the point is not valid. */
	    .lost = is_completed(w) ? w->lost : 0,
	};

	validity_judge(&facts, v);
}

/* "not possible here: ...", "failed: ...", "only 4 of 5 repetitions". */
static json_t *say_outcome(const struct work *w)
{
	const char *outcome = outcome_of(w), *why = json_text(w->outcome, "why");
	json_int_t wanted = json_integer_value(json_object_get(w->layout.params, "repetitions"));
	json_t *text;
	char *line;

	if (is_completed(w) && wanted <= (json_int_t)w->rep_count)
		return NULL;
	if (is_completed(w))
		line = fs_path("only %zu of %" JSON_INTEGER_FORMAT " repetitions are there", w->rep_count, wanted);
	else
		line = fs_path("%s%s%s", strcmp(outcome, "impossible") ? outcome : "not possible here",
			       *why ? ": " : "", why);
	text = json_string(line);
	free(line);
	return text;
}

static json_t *build_validity(struct work *w, const json_t *metrics)
{
	struct validity v = {NULL, NULL};
	json_t *outcome = say_outcome(w), *point;

	if (w->rep_count)
		judge(w, &v);
	if (!v.reasons) {
		v.reasons = json_array();
		v.warnings = json_array();
	}
	if (!outcome && !w->rep_count)
		outcome = json_string("nothing was measured");
	if (w->interference)
		json_array_append_new(v.warnings, interference_text(w->interference, metrics));
	if (outcome)
		json_array_insert_new(v.reasons, 0, outcome);
	point = json_pack("{s:b, s:o, s:o}", "valid", !json_array_size(v.reasons), "reasons", v.reasons, "warnings",
			  v.warnings);
	return point;
}

/* --- points --- */

/* New references in, one object out; NULL if one of them is missing. */
static json_t *assemble(struct work *w, json_t *metrics, json_t *reps)
{
	json_t *point = json_pack("{s:I, s:O, s:s, s:s}", "id", (json_int_t)w->layout.id, "params", w->layout.params,
				  "outcome", outcome_of(w), "why", json_text(w->outcome, "why"));
	json_t *validity = build_validity(w, metrics), *pacing, *storing;

	json_object_update(point, validity);
	json_decref(validity);
	json_object_set_new(point, "loss", build_loss(w));
	json_object_set_new(point, "in_flight", flight_json(&w->flight));
	if (w->rep_count && (pacing = pacing_json(&w->layout, w->reps, w->rep_count)))
		json_object_set_new(point, "pacing", pacing);
	if (w->interference)
		json_object_set(point, "interference", w->interference);
	if (w->rep_count && (storing = storing_json(&w->layout, w->reps, w->rep_count)))
		json_object_set_new(point, "sink", storing);
	json_object_set_new(point, "metrics", metrics);
	json_object_set_new(point, "reps", reps);
	return point;
}

json_t *point_summary(const struct point_context *context, const struct layout *layout, struct err *e)
{
	struct work w = {.context = context, .run_path = context->run_path, .layout = *layout};
	json_t *metrics = NULL, *reps = NULL, *point = NULL;
	int rc = read_outcome(&w, e);

	if (!rc)
		rc = open_reps(&w, e);
	if (!rc)
		metrics = build_metrics(&w, 0, w.rep_count, e);
	if (metrics && !find_fate(&w, metrics, e) &&
	    !interference_compute(w.run_path, &w.layout, metrics, &w.interference, e))
		reps = build_reps(&w, e);
	if (reps)
		point = assemble(&w, metrics, reps);
	else
		json_decref(metrics);
	work_close(&w);
	return point;
}
