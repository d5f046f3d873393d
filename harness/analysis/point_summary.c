#include "analysis/point_summary.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/causes.h"
#include "analysis/fairness.h"
#include "analysis/flow_summary.h"
#include "analysis/interference.h"
#include "analysis/statistics.h"
#include "analysis/validity.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "rundir/flows.h"
#include "rundir/schema.h"

/* A point that has no point.json: the run was killed, or ended, before or while it was measured. */
#define NOT_MEASURED "not measured"
#define UNFINISHED   "unfinished"

/* A point while it is being summarised. */
struct work {
	const struct point_context *context;
	const struct layout *layout;
	json_t *outcome;	    /* point.json, or NULL */
	size_t rep_count;	    /* complete ones only */
	struct flow_summary *flows; /* one for each flow of the layout, with all repetitions */
};

static bool is_completed(const struct work *w)
{
	const char *outcome = json_string_value(json_object_get(w->outcome, "outcome"));

	return outcome && !strcmp(outcome, "completed");
}

static const char *outcome_word(const struct work *w)
{
	return json_text_or(w->outcome, "outcome", w->rep_count ? UNFINISHED : NOT_MEASURED);
}

static bool has_flows(const struct work *w)
{
	return *w->layout->flows[0].name;
}

/* The entry of a flow in point.json's `key`. */
static const json_t *said_of_flow(const struct work *w, const char *key, const struct layout_flow *f)
{
	const json_t *value = json_object_get(w->outcome, key);

	return *f->name ? json_object_get(value, f->name) : value;
}

static int read_point_json(struct work *w, struct err *e)
{
	char *path = fs_path("%s/points/%04u/point.json", w->context->run_path, w->layout->id);
	int rc = 0;

	if (!fs_is_missing(path)) {
		w->outcome = schema_read(DOC_POINT, path, e);
		rc = w->outcome ? 0 : -EINVAL;
	}
	free(path);
	return rc;
}

/* --- repetitions --- */

/* Why a flow's part of a repetition cannot be used; NULL: it can. */
static const char *trouble_of(const struct work *w, const struct rep *r)
{
	if (!r->is_whole)
		return "a column is missing";
	return !r->counters && is_completed(w) ? "counters.json is missing" : NULL;
}

static int refuse_rep(const struct work *w, const struct layout_flow *f, unsigned number, const char *trouble,
		      struct err *e)
{
	char *dir = layout_rep_dir(w->context->run_path, w->layout->id, number, f->name);
	int rc = err_set(e, -ENOENT, STATUS_USAGE, dir, NULL, "%s", trouble);

	free(dir);
	return rc;
}

/* A killed run may leave a repetition without some of its columns, which is then ignored. In a
 * completed point, this is an error. */
static int add_rep(struct work *w, unsigned number, struct rep *of_flow, struct err *e)
{
	const struct layout *l = w->layout;
	const char *trouble = NULL;
	size_t open = 0;
	int rc = 0;

	while (!rc && !trouble && open < l->flow_count) {
		rc = rep_open(w->context->run_path, &l->flows[open], number, &of_flow[open], e);
		if (rc)
			break;
		trouble = trouble_of(w, &of_flow[open]);
		if (trouble && is_completed(w))
			rc = refuse_rep(w, &l->flows[open], number, trouble, e);
		open++;
	}
	for (size_t i = 0; i < open; i++) {
		if (rc || trouble)
			rep_close(&of_flow[i], NULL);
		else
			flow_summary_add(&w->flows[i], &of_flow[i]);
	}
	w->rep_count += !rc && !trouble;
	return rc;
}

static int open_reps(struct work *w, struct err *e)
{
	unsigned *numbers = NULL;
	size_t count = 0;
	int rc = rep_list(w->context->run_path, w->layout->id, &numbers, &count, e);
	struct rep *of_flow = or_abort(calloc(w->layout->flow_count, sizeof(*of_flow)));

	w->flows = or_abort(calloc(w->layout->flow_count, sizeof(*w->flows)));
	for (size_t i = 0; i < w->layout->flow_count; i++)
		flow_summary_init(&w->flows[i], &w->layout->flows[i], count);
	for (size_t i = 0; !rc && i < count; i++)
		rc = add_rep(w, numbers[i], of_flow, e);
	free(of_flow);
	free(numbers);
	return rc;
}

static int work_close(struct work *w, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; w->flows && i < w->layout->flow_count; i++)
		if (flow_summary_close(&w->flows[i], e))
			rc = -EIO;
	free(w->flows);
	json_decref(w->outcome);
	return rc;
}

/* The metrics of `count` repetitions, beginning with `first`. */
static json_t *build_metrics(struct work *w, size_t first, size_t count, struct err *e)
{
	json_t *metrics = json_object();

	for (size_t i = 0; i < w->layout->flow_count; i++)
		if (flow_summary_metrics(&w->flows[i], first, count, metrics, e)) {
			json_decref(metrics);
			return NULL;
		}
	return metrics;
}

static json_t *build_rep(struct work *w, size_t index, struct err *e)
{
	json_t *metrics = build_metrics(w, index, 1, e), *rep;

	if (!metrics)
		return NULL;
	rep = json_pack("{s:I, s:o}", "rep", (json_int_t)w->flows[0].reps[index].number, "metrics", metrics);
	for (size_t i = 0; i < w->layout->flow_count; i++)
		flow_summary_blocks(&w->flows[i], index, 1, true, said_of_flow(w, "granted", w->flows[i].flow), rep);
	fairness_add(w->flows, w->layout->flow_count, index, 1, true, rep);
	return rep;
}

static json_t *build_reps(struct work *w, struct err *e)
{
	json_t *reps = json_array();

	for (size_t i = 0; i < w->rep_count; i++) {
		json_t *rep = build_rep(w, i, e);

		if (!rep) {
			json_decref(reps);
			return NULL;
		}
		json_array_append_new(reps, rep);
	}
	return reps;
}

/* --- validity --- */

/* The series that is most affected by the error of the clock between two hosts. */
static void find_crossing(const struct flow_summary *s, const json_t *metrics, struct validity_facts *f)
{
	for (unsigned i = 0; i < s->flow->series_count; i++) {
		const struct layout_series *series = &s->flow->series[i];
		const json_t *metric = flows_get(metrics, s->flow->name, series->name);
		const json_t *p50 = json_object_get(metric, "p50");

		if (!series->crosses)
			continue;
		f->crosses = true;
		if (!json_is_integer(p50) || (f->crossing && json_integer_value(p50) >= f->crossing_p50_ns))
			continue;
		f->crossing = series->label;
		f->crossing_p50_ns = json_integer_value(p50);
	}
}

static void judge_flow(const struct work *w, const struct flow_summary *s, const json_t *metrics, struct validity *v)
{
	struct validity_facts facts = {
	    .params = s->flow->params,
	    .traits = s->flow->traits,
	    .counts_loss = s->flow->counts_loss,
	    .counters = s->counters,
	    .clock = w->context->clock,
	    .far_clock = {w->context->far_clock[0], w->context->far_clock[1]},
	    .between = json_object_get(w->outcome, "clock"),
	    .placement = said_of_flow(w, "placement", s->flow),
	    .state = {w->context->state[0], w->context->state[1]},
	    /* Messages in flight when a repetition was aborted are not lost, and the point is not
	     * valid anyway. */
	    .lost = is_completed(w) ? s->lost : 0,
	};

	find_crossing(s, metrics, &facts);
	validity_judge(&facts, v);
}

/* "not possible here: ...", "failed: ...", "only 4 of 5 repetitions are complete". */
static json_t *outcome_text(const struct work *w)
{
	const char *outcome = outcome_word(w), *why = json_text(w->outcome, "why");
	json_int_t wanted = json_integer_value(json_object_get(w->layout->params, "repetitions"));

	if (is_completed(w) && wanted <= (json_int_t)w->rep_count)
		return NULL;
	if (is_completed(w))
		return json_sprintf("only %zu of %" JSON_INTEGER_FORMAT " repetitions are complete", w->rep_count,
				    wanted);
	return json_sprintf("%s%s%s", strcmp(outcome, "impossible") ? outcome : "not possible here", *why ? ": " : "",
			    why);
}

/* Adds `texts`, which it takes, with the name of the flow if it has one. */
static void add_texts(json_t *to, const struct layout_flow *f, json_t *texts)
{
	const json_t *text;
	size_t i;

	json_array_foreach (texts, i, text)
		json_array_append_new(to,
				      json_sprintf("%s%s%s", f->name, *f->name ? ": " : "", json_string_value(text)));
	json_decref(texts);
}

static void add_validity(const struct work *w, const json_t *metrics, json_t *point)
{
	json_t *reasons = json_array(), *warnings = json_array(), *outcome = outcome_text(w);

	if (outcome)
		json_array_append_new(reasons, outcome);
	else if (!w->rep_count)
		json_array_append_new(reasons, json_string("nothing was measured"));
	for (size_t i = 0; w->rep_count && i < w->layout->flow_count; i++) {
		const struct flow_summary *s = &w->flows[i];
		struct validity v;

		judge_flow(w, s, metrics, &v);
		if (s->interference)
			json_array_append_new(v.warnings, interference_text(s->interference, metrics));
		add_texts(reasons, s->flow, v.reasons);
		add_texts(warnings, s->flow, v.warnings);
	}
	json_object_set_new(point, "valid", json_boolean(!json_array_size(reasons)));
	json_object_set_new(point, "reasons", reasons);
	json_object_set_new(point, "warnings", warnings);
}

/* --- several flows --- */

static json_t *total_loss(const struct work *w)
{
	json_t *total = json_object(), *loss, *value;
	const char *key;

	for (size_t i = 0; i < w->layout->flow_count; i++) {
		loss = flow_summary_loss(&w->flows[i]);
		json_object_foreach (loss, key, value) {
			json_int_t sum = json_integer_value(json_object_get(total, key)) + json_integer_value(value);

			json_object_set_new(total, key, json_integer(sum));
		}
		json_decref(loss);
	}
	return total;
}

/* When a flow posted the first message of a repetition; NEVER if unknown. */
static int64_t first_post(const struct flow_summary *s, size_t rep)
{
	int submitted = layout_column(s->flow, "t_subm");
	const struct npy *column = submitted < 0 ? NULL : &s->reps[rep].columns[submitted];

	for (size_t i = 0; column && i < column->count; i++)
		if (column->data[i] != NEVER)
			return column->data[i];
	return NEVER;
}

static json_t *start_json(const struct work *w)
{
	int64_t most = -1;

	for (size_t rep = 0; rep < w->rep_count; rep++) {
		int64_t first = INT64_MAX, last = INT64_MIN;
		bool known = true;

		for (size_t i = 0; i < w->layout->flow_count; i++) {
			int64_t at = first_post(&w->flows[i], rep);

			known &= at != NEVER;
			first = at < first ? at : first;
			last = at > last ? at : last;
		}
		if (known && last - first > most)
			most = last - first;
	}
	return json_pack("{s:o}", "spread_ns", most >= 0 ? json_integer(most) : json_null());
}

/* --- points --- */

static void add_flow_facts(const struct work *w, const struct flow_summary *s, json_t *point)
{
	char key[FLOWS_KEY_MAX];

	json_object_set_new(point, flows_key(s->flow->name, "loss", key, sizeof(key)), flow_summary_loss(s));
	json_object_set_new(point, flows_key(s->flow->name, "in_flight", key, sizeof(key)), flight_json(&s->flight));
	flow_summary_blocks(s, 0, w->rep_count, false, said_of_flow(w, "granted", s->flow), point);
	if (s->interference)
		json_object_set(point, flows_key(s->flow->name, "interference", key, sizeof(key)), s->interference);
}

/* These warnings come from the block, which is made later than the other warnings. */
static void add_causes_warnings(const struct layout_flow *f, json_t *point)
{
	json_t *warnings = json_array();

	causes_warn(flows_get(point, f->name, "causes"), warnings);
	add_texts(json_object_get(point, "warnings"), f, warnings);
}

/* Add the error of the clock between two hosts to the metrics that it affects, and the clock to the point. */
static void add_clock(const struct work *w, json_t *metrics, json_t *point)
{
	const json_t *clock = json_object_get(w->outcome, "clock"), *error = json_object_get(clock, "error_ns");
	json_t *said = json_is_object(clock) ? json_copy((json_t *)clock) : NULL;

	if (!said)
		return;
	json_object_del(said, "comparisons");
	json_object_set_new(point, "clock", said);
	for (size_t i = 0; json_is_integer(error) && i < w->layout->flow_count; i++)
		for (unsigned k = 0; k < w->layout->flows[i].series_count; k++) {
			const struct layout_series *s = &w->layout->flows[i].series[k];
			json_t *metric = flows_get(metrics, w->layout->flows[i].name, s->name);

			if (s->crosses && metric)
				json_object_set(metric, CLOCK_ERROR_KEY, (json_t *)error);
		}
}

/* New references in, one object out. */
static json_t *assemble(const struct work *w, json_t *metrics, json_t *reps)
{
	json_t *point = json_pack("{s:I, s:O, s:s, s:s}", "id", (json_int_t)w->layout->id, "params", w->layout->params,
				  "outcome", outcome_word(w), "why", json_text(w->outcome, "why"));

	add_validity(w, metrics, point);
	if (has_flows(w)) {
		json_object_set_new(point, "loss", total_loss(w));
		json_object_set_new(point, "start", start_json(w));
	}
	for (size_t i = 0; i < w->layout->flow_count; i++)
		add_flow_facts(w, &w->flows[i], point);
	fairness_add(w->flows, w->layout->flow_count, 0, w->rep_count, false, point);
	for (size_t i = 0; i < w->layout->flow_count; i++)
		add_causes_warnings(w->flows[i].flow, point);
	add_clock(w, metrics, point);
	json_object_set_new(point, "metrics", metrics);
	json_object_set_new(point, "reps", reps);
	return point;
}

json_t *point_summary(const struct point_context *context, const struct layout *layout, struct err *e)
{
	struct work w = {.context = context, .layout = layout};
	json_t *metrics = NULL, *reps = NULL, *point = NULL;
	int rc = read_point_json(&w, e) ?: open_reps(&w, e);

	if (!rc)
		metrics = build_metrics(&w, 0, w.rep_count, e);
	for (size_t i = 0; metrics && !rc && i < layout->flow_count; i++)
		rc = flow_summary_count(&w.flows[i], context->run_path, metrics, e);
	if (metrics && !rc)
		reps = build_reps(&w, e);
	if (reps)
		point = assemble(&w, metrics, reps);
	else
		json_decref(metrics);
	if (!work_close(&w, e))
		return point;
	json_decref(point);
	return NULL;
}
