#include "judge/analysis/summary_build.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "files/rundir/layout.h"
#include "files/rundir/reader.h"
#include "files/rundir/schema.h"
#include "files/rundir/sealed.h"
#include "judge/analysis/causes.h"
#include "judge/analysis/fairness.h"
#include "judge/analysis/flow_summary.h"
#include "judge/analysis/notes.h"
#include "judge/analysis/param.h"
#include "judge/analysis/summary.h"
#include "judge/analysis/summary_json.h"
#include "judge/analysis/validity.h"

/* --- a point --- */

/* What all points of a run have in common. Pointers are borrowed. */
struct point_context {
	const char *run_path;
	const json_t *clock; /* run.json's */
	/* of the source's and the sink's host, if run.json has one for it; otherwise NULL */
	const json_t *far_clock[2];
	/* of the source's and the sink's host before the run (struct validity_facts) */
	json_t *state[2];
};

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

	return outcome && summary_outcome_of(outcome) == POINT_COMPLETED;
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
static int add_metrics_of(struct work *w, size_t first, size_t count, struct summary_results *to, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < w->layout->flow_count; i++)
		rc = flow_summary_metrics(&w->flows[i], first, count, to, e);
	return rc;
}

/* Their blocks. `warnings`: of all repetitions together; NULL: they are those of a single one. */
static void add_blocks_of(const struct work *w, size_t first, size_t count, struct summary_results *to,
			  json_t *warnings)
{
	for (size_t i = 0; i < w->layout->flow_count; i++)
		flow_summary_blocks(&w->flows[i], first, count, !warnings, said_of_flow(w, "granted", w->flows[i].flow),
				    to);
	fairness_add(w->flows, w->layout->flow_count, first, count, !warnings, to, warnings);
}

static int build_reps(struct work *w, struct summary_point *out, struct err *e)
{
	int rc = 0;

	out->reps = or_abort(calloc(w->rep_count + 1, sizeof(*out->reps)));
	for (size_t i = 0; !rc && i < w->rep_count; i++) {
		struct summary_rep *rep = &out->reps[out->rep_count++];

		rep->number = (json_int_t)w->flows[0].reps[i].number;
		rc = add_metrics_of(w, i, 1, &rep->results, e);
		if (!rc)
			add_blocks_of(w, i, 1, &rep->results, NULL);
	}
	return rc;
}

/* --- validity --- */

/* The series that is most affected by the error of the clock between two hosts. */
static void find_crossing(const struct flow_summary *s, const struct summary_results *results, struct validity_facts *f)
{
	for (unsigned i = 0; i < s->flow->series_count; i++) {
		const struct layout_series *series = &s->flow->series[i];
		const struct summary_metric *m = summary_find_metric(results, s->flow->name, series->name);
		struct number p50;

		if (!series->crosses)
			continue;
		f->crosses = true;
		p50 = m ? m->values[STATISTIC_P50] : number_none();
		if (!number_is_known(p50) || (f->crossing && number_count(p50) >= f->crossing_p50_ns))
			continue;
		f->crossing = series->label;
		f->crossing_p50_ns = number_count(p50);
	}
}

static void judge_flow(const struct work *w, const struct flow_summary *s, const struct summary_results *results,
		       struct validity *v)
{
	struct validity_facts facts = {
	    .traits = s->flow->traits,
	    .counts_loss = s->flow->counts_loss,
	    .counters = s->counters,
	    .clock = w->context->clock,
	    .far_clock = {w->context->far_clock[0], w->context->far_clock[1]},
	    .between = json_object_get(w->outcome, "clock"),
	    .placement = said_of_flow(w, "placement", s->flow),
	    .granted = said_of_flow(w, "granted", s->flow),
	    .state = {w->context->state[0], w->context->state[1]},
	    /* Messages in flight when a repetition was aborted are not lost, and the point is not
	     * valid anyway. */
	    .lost = is_completed(w) ? s->lost : 0,
	};

	find_crossing(s, results, &facts);
	validity_judge(&facts, v);
}

/* "not possible here: ...", "failed: ...", "only 4 of 5 repetitions are complete". */
static json_t *outcome_text(const struct work *w)
{
	const char *outcome = outcome_word(w), *why = json_text(w->outcome, "why");
	json_int_t wanted = param_integer(w->layout->params, "repetitions");

	if (is_completed(w) && wanted <= (json_int_t)w->rep_count)
		return NULL;
	if (is_completed(w))
		return json_sprintf("only %zu of %" JSON_INTEGER_FORMAT " repetitions are complete", w->rep_count,
				    wanted);
	return json_sprintf("%s%s%s", summary_outcome_of(outcome) == POINT_IMPOSSIBLE ? "not possible here" : outcome,
			    *why ? ": " : "", why);
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

static void set_validity(const struct work *w, struct summary_point *out)
{
	json_t *outcome = outcome_text(w);

	out->reasons = json_array();
	out->warnings = json_array();
	if (outcome)
		json_array_append_new(out->reasons, outcome);
	else if (!w->rep_count)
		json_array_append_new(out->reasons, json_string("nothing was measured"));
	for (size_t i = 0; w->rep_count && i < w->layout->flow_count; i++) {
		const struct flow_summary *s = &w->flows[i];
		struct validity v;

		judge_flow(w, s, &out->results, &v);
		if (s->interference)
			json_array_append_new(v.warnings, interference_text(s->interference, &out->results));
		add_texts(out->reasons, s->flow, v.reasons);
		add_texts(out->warnings, s->flow, v.warnings);
	}
	out->valid = !json_array_size(out->reasons);
}

/* --- several flows --- */

static struct summary_loss total_loss(const struct summary_point *p)
{
	struct summary_loss total = {.is_known = true};

	for (size_t i = 0; i < p->flow_count; i++) {
		total.sent += p->flows[i].loss.sent;
		total.lost += p->flows[i].loss.lost;
		total.duplicates += p->flows[i].loss.duplicates;
		total.reordered += p->flows[i].loss.reordered;
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

/* The time between the flows' first posts. */
static struct number spread_of_start(const struct work *w)
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
	return most >= 0 ? number_integer(most) : number_none();
}

/* --- points --- */

/* These warnings come from the block, which is made later than the other warnings. */
static void add_causes_warnings(const struct layout_flow *f, struct summary_point *out)
{
	const struct summary_block *causes = summary_find_block(&out->results, f->name, &causes_block);
	json_t *warnings = json_array();

	if (causes)
		causes_warn(causes, warnings);
	add_texts(out->warnings, f, warnings);
}

/* Add the error of the clock between two hosts to the metrics that it affects, and the clock to the point. */
static void set_clock(const struct work *w, struct summary_point *out)
{
	const json_t *clock = json_object_get(w->outcome, "clock"), *error = json_object_get(clock, "error_ns");
	size_t metric = 0;

	if (!json_is_object(clock))
		return;
	out->clock = json_copy((json_t *)clock);
	json_object_del(out->clock, "comparisons");
	for (size_t i = 0; json_is_integer(error) && i < w->layout->flow_count; i++)
		for (unsigned k = 0; k < w->layout->flows[i].series_count && metric < out->results.metric_count; k++) {
			if (w->layout->flows[i].series[k].crosses)
				out->results.metrics[metric].clock_error = number_decode(error);
			metric++;
		}
}

/* What others took of its CPUs: the mean of the looks at this point alone. */
static void set_taken(const struct work *w, struct summary_point *out)
{
	const json_t *looks = json_object_get(w->outcome, "taken_looks"), *share;
	double sum = 0;
	size_t i, known = 0;

	json_array_foreach (looks, i, share) {
		sum += json_number_value(share);
		known += json_is_number(share);
	}
	if (looks)
		out->cpu_share_of_others = number_real(sum / (double)known);
}

/* The first thing that its environment lacked is a warning. */
static void set_environment(const struct work *w, struct summary_point *out)
{
	char *lack;

	summary_decode_environment(out, json_object_get(w->outcome, "environment"));
	lack = summary_environment_lack(out);
	if (lack)
		json_array_append_new(out->warnings, json_string(lack));
	free(lack);
}

static void set_flows(struct work *w, struct summary_point *out)
{
	out->flow_count = w->layout->flow_count;
	out->flows = or_abort(calloc(out->flow_count, sizeof(*out->flows)));
	for (size_t i = 0; i < out->flow_count; i++)
		out->flows[i] = flow_summary_facts(&w->flows[i]);
	if (!has_flows(w))
		return;
	out->loss = total_loss(out);
	out->spread_ns = spread_of_start(w);
}

/* What follows from its metrics. */
static void conclude_point(struct work *w, struct summary_point *out)
{
	set_validity(w, out);
	add_blocks_of(w, 0, w->rep_count, &out->results, out->warnings);
	for (size_t i = 0; i < w->layout->flow_count; i++)
		add_causes_warnings(w->flows[i].flow, out);
	set_flows(w, out);
	set_clock(w, out);
	set_taken(w, out);
	set_environment(w, out);
}

/* Everything but what the encoder adds (summary_json.h). 0, or a negative errno and `e`: then there is nothing to free. It
 * is not an error if the point was not measured. */
static int point_summary(const struct point_context *context, const struct layout *layout, struct summary_point *out,
			 struct err *e)
{
	struct work w = {.context = context, .layout = layout};
	int rc = read_point_json(&w, e) ?: open_reps(&w, e);

	*out = (struct summary_point){
	    .id = (json_int_t)layout->id,
	    .params = json_incref((json_t *)layout->params),
	    .outcome = summary_outcome_of(outcome_word(&w)),
	    .outcome_text = fs_path("%s", outcome_word(&w)),
	    .why = fs_path("%s", json_text(w.outcome, "why")),
	};
	rc = rc ?: add_metrics_of(&w, 0, w.rep_count, &out->results, e);
	for (size_t i = 0; !rc && i < layout->flow_count; i++)
		rc = flow_summary_count(&w.flows[i], context->run_path, &out->results, e);
	rc = rc ?: build_reps(&w, out, e);
	if (!rc)
		conclude_point(&w, out);
	if (work_close(&w, e))
		rc = -EIO;
	if (rc)
		summary_free_point(out);
	return rc;
}

static void summary_conclude(struct summary *s, const struct run_record *record, const json_t *resolved)
{
	const json_t *named = json_object_get(resolved, "named");

	s->name = fs_path("%s", json_text(resolved, "name"));
	s->title = fs_path("%s", record->title);
	s->variant = fs_path("%s", json_text(resolved, "variant"));
	s->hosts = json_array();
	for (size_t i = 0; i < record->hosts; i++)
		json_array_append_new(s->hosts, json_string(record->host[i].name));
	s->reasons = notes_of_points(s, NOTES_REASONS, NOTES_BY_TEXT);
	s->warnings = notes_of_points(s, NOTES_WARNINGS, NOTES_BY_TEXT);
	s->valid = !json_array_size(s->reasons);
	s->named = json_is_array(named) ? json_incref((json_t *)named) : NULL;
}

/* `last`: the id of the previous point. */
static int build_point(const struct point_context *c, const json_t *resolved, size_t index, long long *last,
		       struct summary *s, struct err *e)
{
	struct layout layout;
	int rc = layout_read(c->run_path, resolved, index, &layout, e);

	if (rc)
		return rc;
	if (layout.id <= *last)
		rc = err_set(e, -EINVAL, STATUS_USAGE, c->run_path, NULL,
			     "resolved.json: the ids of its points are not ascending");
	else
		rc = point_summary(c, &layout, &s->points[s->point_count], e);
	s->point_count += !rc;
	*last = layout.id;
	layout_free(&layout);
	return rc;
}

static struct summary *build_points(const struct point_context *c, const json_t *resolved, struct err *e)
{
	const size_t count = json_array_size(json_object_get(resolved, "points"));
	struct summary *s = or_abort(calloc(1, sizeof(*s)));
	long long last = -1;

	s->points = or_abort(calloc(count + 1, sizeof(*s->points)));
	for (size_t i = 0; i < count; i++)
		if (build_point(c, resolved, i, &last, s, e)) {
			summary_free(s);
			return NULL;
		}
	return s;
}

/*
 * A look is rough, and others rarely come for one point alone: to each point that was looked at belongs what others
 * took of it and of those beside it.
 */
static void take_neighbours(struct summary *s)
{
	double *own = or_abort(calloc(s->point_count + 1, sizeof(*own)));

	for (size_t i = 0; i < s->point_count; i++)
		own[i] = number_value(s->points[i].cpu_share_of_others);
	for (size_t i = 0; i < s->point_count; i++) {
		struct summary_point *p = &s->points[i];
		double sum = 0;
		int known = 0;

		if (!number_is_known(p->cpu_share_of_others))
			continue;
		for (size_t k = i ? i - 1 : 0; k <= i + 1 && k < s->point_count; k++) {
			sum += isnan(own[k]) ? 0 : own[k];
			known += !isnan(own[k]);
		}
		p->cpu_share_of_others = number_real(sum / known);
		if (summary_is_disturbed(p))
			json_array_append_new(
			    p->warnings,
			    json_sprintf("others took %.0f %% of the time of the CPUs that it was measured on",
					 100 * sum / known));
	}
	free(own);
}

/* The clock of a host other than the coordinator's. */
static const json_t *clock_of_role(const struct run_record *r, const char *role)
{
	for (size_t i = 0; i < r->hosts; i++)
		if (run_host_is(&r->host[i], role) && r->host[i].clock)
			return r->host[i].clock;
	return NULL;
}

struct summary *summary_build(const char *run_path, const struct run_record *record, const json_t *resolved,
			      struct err *e)
{
	struct point_context c = {
	    .run_path = run_path,
	    .clock = record->clock,
	    .far_clock = {clock_of_role(record, "source"), clock_of_role(record, "sink")},
	    .state = {run_state(run_path, record, "source"), run_state(run_path, record, "sink")},
	};
	struct summary *s = build_points(&c, resolved, e);

	json_decref(c.state[0]);
	json_decref(c.state[1]);
	if (s) {
		take_neighbours(s);
		summary_conclude(s, record, resolved);
	}
	return s;
}

void summary_doubt(struct summary *s, const struct run *run)
{
	struct err why = ERR_INIT;

	if (!sealed_unchanged(run, &why))
		return;
	s->valid = false;
	json_array_append_new(s->reasons, json_string(why.text));
	for (size_t i = 0; i < s->point_count; i++) {
		s->points[i].valid = false;
		json_array_append_new(s->points[i].reasons, json_string("the run is not as it was sealed"));
	}
}

struct summary *summary_of_run(const struct run *run, struct err *e)
{
	if (run->sealed && run->summary) {
		struct summary *s = summary_decode(run->summary);

		summary_doubt(s, run);
		return s;
	}
	return summary_build(run->path, &run->record, run->resolved, e);
}

/* --- files --- */

static int write_csv(const char *run_path, const struct summary *summary, struct err *e)
{
	char *path = fs_path("%s/summary.csv", run_path), *text = NULL;
	size_t size = 0;
	FILE *out = or_abort(open_memstream(&text, &size));
	int rc = summary_csv(summary, out);

	if (fclose(out) && !rc)
		rc = -ENOMEM;
	rc = rc ? err_sys(e, rc, path, "write") : fs_write(path, text, size, e);
	free(text);
	free(path);
	return rc;
}

static int write_json(char *path, json_t *value, struct err *e)
{
	int rc = json_write(path, value, e);

	json_decref(value);
	free(path);
	return rc;
}

static int summary_write_point(const char *run_path, const struct summary_point *point, struct err *e)
{
	char *dir = layout_point_dir(run_path, (unsigned)point->id);
	int rc = fs_is_missing(dir) ? 0 : write_json(fs_path("%s/summary.json", dir), summary_encode_point(point), e);

	free(dir);
	return rc;
}

int summary_write(const char *run_path, const struct summary *summary, struct err *e)
{
	int rc = write_json(fs_path("%s/summary.json", run_path), summary_encode(summary), e);

	if (!rc)
		rc = write_csv(run_path, summary, e);
	for (size_t i = 0; !rc && i < summary->point_count; i++)
		rc = summary_write_point(run_path, &summary->points[i], e);
	return rc;
}
