#include "judge/claims/claims.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/table.h"
#include "common/table_print.h"
#include "common/text.h"
#include "common/units.h"
#include "files/claim/claim.h"
#include "files/claim/claim_json.h"
#include "files/rundir/flows.h"
#include "files/rundir/schema.h"
#include "judge/analysis/param.h"
#include "judge/analysis/summary.h"
#include "judge/analysis/verify.h"
#include "judge/claims/claim_metric.h"
#include "judge/claims/claim_needs.h"
#include "judge/claims/claim_verdict.h"

/* --- pairs --- */

/*
 * The points that a claim is about, the points that it compares them with, and which of them belong together
 * (docs/claims.md).
 */

/* Why a claim is not judged: none of its points was measured. */
#define CLAIM_WITHOUT_POINT "the run has no point that the claim is about"

/* Points of one run, as selected. */
struct claim_side {
	const struct claim_run *run;
	const struct claim_metric *metric; /* the number of each */
	const struct summary_point **points;
	size_t count;
	json_t *varying; /* a set: the keys of the first point's params whose values differ between points */
	json_t *groups;	 /* an array of indexes of points, ascending, for each combination of joining values */
};

struct claim_pairing {
	const struct claim *claim;
	struct claim_side points, against;
	/* Keys of params in which points that belong together agree. If a point does not have the key, the settings of
	 * the metric's flow are used. */
	const char **by;
	size_t by_count;
};

/* --- sides --- */

static bool param_varies(const struct claim_side *side, const char *key, const json_t *first)
{
	for (size_t i = 1; i < side->count; i++)
		if (!json_equal(first, claim_point_param(side->points[i], key)))
			return true;
	return false;
}

static json_t *side_varying_keys(const struct claim_side *side)
{
	json_t *keys = or_abort(json_object()), *value;
	const char *key;

	json_object_foreach (side->count ? side->points[0]->params : NULL, key, value)
		if (param_varies(side, key, value))
			json_object_set_new(keys, key, json_true());
	return keys;
}

static void select_points(struct claim_side *side, const struct claim_run *run, const struct claim_metric *metric,
			  const struct claim_selection *s)
{
	const struct summary *of = run->summary;

	*side = (struct claim_side){.run = run, .metric = metric};
	side->points = or_abort(calloc(of->point_count + 1, sizeof(*side->points)));
	for (size_t i = 0; i < of->point_count; i++)
		if (claim_selects(s, of->points[i].params))
			side->points[side->count++] = &of->points[i];
	side->varying = side_varying_keys(side);
}

static void side_free(struct claim_side *side)
{
	free(side->points);
	json_decref(side->varying);
	json_decref(side->groups);
}

static bool has_host(const struct run_record *r, const char *name)
{
	size_t i = 0;

	while (i < r->hosts && strcmp(r->host[i].name, name) != 0)
		i++;
	return i < r->hosts;
}

static bool is_same_machine(const struct claim_run *a, const struct claim_run *b)
{
	size_t same = 0;

	for (size_t i = 0; i < a->record->hosts; i++)
		same += has_host(b->record, a->record->host[i].name);
	return same == a->record->hosts && same == b->record->hosts;
}

static bool is_same_variant(const struct claim_run *a, const struct claim_run *b)
{
	return !strcmp(json_text(a->resolved, "variant"), json_text(b->resolved, "variant"));
}

/* A run of the experiment of that name, preferably of the same variant and machine. NULL: there is none. */
static const struct claim_run *find_run(const char *experiment, const struct claim_run *own,
					const struct claim_run *runs, size_t count)
{
	const struct claim_run *found = NULL;

	for (size_t i = 0; i < count; i++) {
		if (strcmp(json_text(runs[i].resolved, "name"), experiment))
			continue;
		if (is_same_variant(&runs[i], own) && is_same_machine(&runs[i], own))
			return &runs[i];
		found = found ? found : &runs[i];
	}
	return found;
}

/* Why two runs cannot be compared; NULL: they can. */
static char *why_not_with(const struct claim_run *other, const char *experiment, const struct claim_run *own)
{
	if (!other)
		return fs_path("it compares with the experiment %s, which is not among the runs judged here",
			       experiment);
	if (!is_same_variant(other, own))
		return fs_path("%s was run in its %s variant, and this experiment in its %s one", experiment,
			       json_text(other->resolved, "variant"), json_text(own->resolved, "variant"));
	if (!is_same_machine(other, own))
		return fs_path("%s was run on another machine", experiment);
	return NULL;
}

static char *select_against(struct claim_pairing *p, const struct claim_run *runs, size_t count)
{
	const char *experiment = p->claim->against.experiment;
	const struct claim_run *own = p->points.run, *run = experiment ? find_run(experiment, own, runs, count) : own;
	char *why = experiment ? why_not_with(run, experiment, own) : NULL;

	if (why)
		return why;
	select_points(&p->against, run, &p->claim->against.metric, &p->claim->against.points);
	return p->against.count
		   ? NULL
		   : fs_path("%s has no point that the claim compares with", experiment ? experiment : "the run");
}

/* --- which points belong together --- */

static bool side_varies(const struct claim_side *side, const char *key)
{
	return json_object_get(side->varying, key);
}

/* Must points agree in this setting to be compared? The claim decides, or otherwise whether the
 * setting varies. A setting whose values differ between the two selections is what is compared. */
static bool joins(const struct claim_pairing *p, const char *key)
{
	const struct claim *c = p->claim;

	return side_varies(&p->points, key) && strcmp(key, c->along ?: "") &&
	       !claim_selects_differently(&c->points, &c->against.points, key) &&
	       (!c->compares || side_varies(&p->against, key));
}

static void find_joining_keys(struct claim_pairing *p)
{
	const struct claim *c = p->claim;
	json_t *params = p->points.points[0]->params, *value;
	const char *key;

	p->by = or_abort(calloc(c->by_count + json_object_size(params) + 1, sizeof(*p->by)));
	for (size_t i = 0; i < c->by_count; i++)
		p->by[p->by_count++] = c->by[i];
	if (c->has_by)
		return;
	json_object_foreach (params, key, value)
		if (joins(p, key))
			p->by[p->by_count++] = key;
}

static const json_t *joining_value(const struct claim_side *side, const struct summary_point *point, const char *key)
{
	const json_t *value = claim_point_param(point, key);

	return value ? value : flows_get(point->params, side->metric->flow, key);
}

/* A text of the joining values: points with the same one belong together. The caller frees. */
static char *joining_text(const struct claim_pairing *p, const struct claim_side *side,
			  const struct summary_point *point)
{
	json_t *values = or_abort(json_object());
	char *text;

	for (size_t i = 0; i < p->by_count; i++) {
		const json_t *value = joining_value(side, point, p->by[i]);

		if (value)
			json_object_set(values, p->by[i], (json_t *)value);
	}
	text = or_abort(json_dumps(values, JSON_COMPACT | JSON_SORT_KEYS));
	json_decref(values);
	return text;
}

static void group_points(const struct claim_pairing *p, struct claim_side *side)
{
	side->groups = or_abort(json_object());
	for (size_t i = 0; i < side->count; i++) {
		char *text = joining_text(p, side, side->points[i]);
		json_t *group = json_object_get(side->groups, text);

		if (!group) {
			group = or_abort(json_array());
			json_object_set_new(side->groups, text, group);
		}
		json_array_append_new(group, json_integer((json_int_t)i));
		free(text);
	}
}

/* For a claim of `run`, among `count` runs judged together. Returns NULL, or a sentence that says why the claim cannot
 * be judged (to be freed). Free the pairing in both cases; everything else is borrowed. */
static char *claim_pairing_make(struct claim_pairing *p, const struct claim *claim, const struct claim_run *run,
				const struct claim_run *runs, size_t count)
{
	char *why = NULL;

	*p = (struct claim_pairing){.claim = claim};
	select_points(&p->points, run, &claim->metric, &claim->points);
	if (!p->points.count)
		return fs_path("%s", CLAIM_WITHOUT_POINT);
	if (claim->compares)
		why = select_against(p, runs, count);
	if (!why) {
		find_joining_keys(p);
		group_points(p, &p->points);
		group_points(p, &p->against);
	}
	return why;
}

static void claim_pairing_free(struct claim_pairing *p)
{
	side_free(&p->points);
	side_free(&p->against);
	free(p->by);
}

/* Those of `side` that agree with one of p->points; NULL: none. */
static const json_t *agreeing(const struct claim_pairing *p, const struct claim_side *side,
			      const struct summary_point *point)
{
	char *text = joining_text(p, &p->points, point);
	const json_t *group = json_object_get(side->groups, text);

	free(text);
	return group;
}

/* Those of p->points that belong together with this one, itself among them: an array of indexes, ascending. */
static const json_t *claim_pairing_group(const struct claim_pairing *p, const struct summary_point *point)
{
	return agreeing(p, &p->points, point);
}

/* The one point of `against` that agrees; otherwise NULL and the reason. */
static const struct summary_point *claim_pairing_partner(const struct claim_pairing *p,
							 const struct summary_point *point, char **why)
{
	const json_t *group = agreeing(p, &p->against, point);
	size_t count = json_array_size(group);

	if (count == 1)
		return p->against.points[json_integer_value(json_array_get(group, 0))];
	*why = count ? fs_path("point %" JSON_INTEGER_FORMAT
			       " could be compared with %zu points; 'by' must name more settings",
			       point->id, count)
		     : fs_path("there is nothing to compare point %" JSON_INTEGER_FORMAT " with", point->id);
	return NULL;
}

/* --- labels --- */

static void print_param_value(FILE *out, const char *key, const json_t *value)
{
	char name[64], text[128];
	enum unit unit = param_name_unit(key, name, sizeof(name));

	param_value_text(value, unit, text, sizeof(text));
	/* "64B" speaks for itself, too, but nothing that belongs to a flow. */
	if (!(param_speaks(value) || (json_is_integer(value) && unit != UNIT_ONE)) || strchr(key, '.'))
		fprintf(out, "%s ", name);
	fputs(text, out);
}

/* Does this setting distinguish cases? Those in which points must agree do, and so do those by
 * which points were selected. */
static bool is_labelled(const struct claim_pairing *p, const char *key)
{
	for (size_t i = 0; i < p->by_count; i++)
		if (!strcmp(p->by[i], key) ||
		    (flows_owns(p->points.metric->flow, key) && !strcmp(p->by[i], flows_bare_key(key))))
			return true;
	return claim_selects_by(&p->claim->points, key) && strcmp(key, p->claim->along ?: "") &&
	       side_varies(&p->points, key);
}

/* What distinguishes a point's case from the others: "rc, 64B". The caller frees. */
static char *claim_pairing_label(const struct claim_pairing *p, const struct summary_point *point)
{
	char *label = NULL;
	size_t size, printed = 0;
	const char *key;
	json_t *value;
	FILE *out = or_abort(open_memstream(&label, &size));

	json_object_foreach (point->params, key, value) {
		if (!is_labelled(p, key))
			continue;
		fputs(printed++ ? ", " : "", out);
		print_param_value(out, key, value);
	}
	fclose(out);
	return or_abort(label);
}

/* --- all as one --- */

/* Logarithms of one side, summed over the cases: those of the value for all repetitions, and of
 * each repetition that all points have. */
struct pool {
	enum over_reps over_reps;
	double value;
	double *rep;
	size_t reps, cases;
	double clock_share; /* the clock's error, as a share of the value */
};

/* For numbers without a logarithm: false, and the reason in `why`. */
static bool pool_add(struct pool *pool, const struct summary_point *point, const struct sample *s, char **why)
{
	bool is_positive = s->value > 0;

	pool->reps = pool->cases && pool->reps < s->reps ? pool->reps : s->reps;
	if (!pool->rep)
		pool->rep = or_abort(calloc(s->reps + 1, sizeof(*pool->rep)));
	for (size_t i = 0; i < pool->reps; i++) {
		is_positive = is_positive && s->rep[i] > 0;
		pool->rep[i] += log(s->rep[i]);
	}
	pool->value += log(s->value);
	pool->clock_share += s->clock_error / s->value;
	pool->over_reps = s->over_reps;
	pool->cases++;
	if (!is_positive)
		*why = fs_path("point %" JSON_INTEGER_FORMAT ": only positive numbers can be pooled", point->id);
	return is_positive;
}

/* The geometric means; the sample borrows the pool's memory. */
static struct sample pool_mean(struct pool *pool)
{
	double cases = (double)pool->cases;

	for (size_t i = 0; i < pool->reps; i++)
		pool->rep[i] = exp(pool->rep[i] / cases);
	return (struct sample){.over_reps = pool->over_reps,
			       .value = exp(pool->value / cases),
			       .rep = pool->rep,
			       .reps = pool->reps,
			       .clock_error = pool->clock_share / cases * exp(pool->value / cases)};
}

static bool pool_add_point(struct pool *pool, const struct summary_point *point, const struct claim_metric *metric,
			   int rules, char **why)
{
	struct sample s = {0};
	bool good = claim_point_sample(point, metric, rules, &s, why) && pool_add(pool, point, &s, why);

	claim_sample_free(&s);
	return good;
}

#define ABOUT_EQUAL 1.1 /* as a few messages may be lost */

/* Messages of a repetition. */
static double messages_of(const struct summary_point *point, const struct claim_metric *metric)
{
	return number_or_zero(summary_number(&point->results, metric->of, "n")) / (double)point->rep_count;
}

/* The maximum of more messages is larger, so one of their ratios says nothing beside others. */
static bool are_comparable(const struct claim_pairing *p, const struct summary_point *point,
			   const struct summary_point *partner, char **why)
{
	const enum over_reps of = claim_metric_over_reps(&p->claim->metric);
	double n = messages_of(point, &p->claim->metric), m = messages_of(partner, &p->claim->against.metric);

	if ((of == OVER_REPS_MIN || of == OVER_REPS_MAX) && (n > m * ABOUT_EQUAL || m > n * ABOUT_EQUAL))
		*why = fs_path("point %" JSON_INTEGER_FORMAT " has %.0f messages in a repetition, and point "
			       "%" JSON_INTEGER_FORMAT " %.0f: their extremes cannot be pooled",
			       point->id, n, partner->id, m);
	return !*why;
}

static bool pool_add_pair(struct claim_case *c, const struct claim_pairing *p, const struct summary_point *point,
			  struct pool *of_points, struct pool *of_against, char **why)
{
	const struct summary_point *partner = claim_pairing_partner(p, point, why);

	if (!partner)
		return false;
	point_ids_add(&c->points, point->id);
	point_ids_add(&c->against, partner->id);
	return are_comparable(p, point, partner, why) &&
	       pool_add_point(of_points, point, &p->claim->metric, p->claim->rules, why) &&
	       pool_add_point(of_against, partner, &p->claim->against.metric, p->claim->rules, why);
}

/* Judges many cases of a claim as one: `pool: yes`. A small difference that all cases show, but none beyond its noise,
 * becomes visible in their geometric mean: the ratio of all points to the points that they are compared with. The case
 * gets the ids of all. */
static void claim_pool_judge(struct claim_case *c, const struct claim_pairing *p)
{
	struct pool of_points = {0}, of_against = {0};
	char *why = NULL;

	for (size_t i = 0; !why && i < p->points.count; i++)
		pool_add_pair(c, p, p->points.points[i], &of_points, &of_against, &why);
	if (why) {
		claim_case_decide(c, CLAIM_NOT_JUDGED, why);
	} else {
		struct sample a = pool_mean(&of_points), b = pool_mean(&of_against);
		struct estimate e = estimate_ratio(&a, &b);

		claim_case_bound(c, p->claim, &e);
	}
	free(of_points.rep);
	free(of_against.rep);
}

/* --- trends --- */

/* Points in the order of an axis, and their samples. */
struct trend {
	const struct claim *claim;
	const struct summary_point **points;
	struct sample *samples;
	size_t count;
};

static int by_axis(const void *a, const void *b, void *along)
{
	const json_t *x = claim_point_param(*(const struct summary_point *const *)a, along);
	const json_t *y = claim_point_param(*(const struct summary_point *const *)b, along);
	json_int_t i = json_integer_value(x), k = json_integer_value(y);

	return (i > k) - (i < k);
}

static void trend_gather(struct trend *t, const struct claim_pairing *p, const struct summary_point *of)
{
	const json_t *group = claim_pairing_group(p, of), *index;
	size_t size = json_array_size(group), i;

	*t = (struct trend){.claim = p->claim};
	t->points = or_abort(calloc(size + 1, sizeof(*t->points)));
	t->samples = or_abort(calloc(size + 1, sizeof(*t->samples)));
	json_array_foreach (group, i, index)
		t->points[t->count++] = p->points.points[json_integer_value(index)];
	qsort_r(t->points, t->count, sizeof(*t->points), by_axis, t->claim->along);
}

static void trend_free(struct trend *t)
{
	for (size_t i = 0; i < t->count; i++)
		claim_sample_free(&t->samples[i]);
	free(t->samples);
	free(t->points);
}

static const json_t *place_on_axis(const struct trend *t, size_t i)
{
	return claim_point_param(t->points[i], t->claim->along);
}

static char *axis_text(const struct trend *t, size_t i, char *buf, size_t size)
{
	char name[64];
	enum unit unit = param_name_unit(t->claim->along, name, sizeof(name));

	return param_value_text(place_on_axis(t, i), unit, buf, size);
}

/* Why a point does not belong on the axis; NULL: it does. */
static char *why_off_axis(const struct trend *t, size_t i)
{
	const json_t *at = place_on_axis(t, i);
	char text[64];

	if (!json_is_integer(at))
		return fs_path("point %" JSON_INTEGER_FORMAT " has no %s", t->points[i]->id, t->claim->along);
	if (i && json_equal(at, place_on_axis(t, i - 1)))
		return fs_path("there are several points at %s; 'by' must name more settings",
			       axis_text(t, i, text, sizeof(text)));
	return NULL;
}

/* Read the samples. Returns why they cannot be judged, or NULL. */
static char *trend_read(struct trend *t)
{
	char *why = NULL;

	if (t->count < 2)
		return fs_path("there is only one point along %s", t->claim->along);
	for (size_t i = 0; i < t->count && !why; i++) {
		why = why_off_axis(t, i);
		if (!why)
			claim_point_sample(t->points[i], &t->claim->metric, t->claim->rules, &t->samples[i], &why);
	}
	for (size_t i = 0; i < t->count && !why; i++)
		if (t->samples[i].value <= 0)
			why = fs_path("a ratio needs positive numbers");
	return why;
}

/* The ratio between two neighbours, or between both ends: above 1 if it is in the direction claimed. */
static struct estimate trend_step(const struct trend *t, size_t from, size_t to)
{
	return t->claim->relation == CLAIM_RISING ? estimate_ratio(&t->samples[to], &t->samples[from])
						  : estimate_ratio(&t->samples[from], &t->samples[to]);
}

/* The first step whose interval is in the wrong direction, or otherwise the first whose value is;
 * `count` if there is none. */
static size_t find_wrong_step(const struct trend *t, bool *is_certain)
{
	double tolerance = t->claim->tolerance;
	double least = t->claim->relation == CLAIM_RISING ? 1 - tolerance : 1 / (1 + tolerance);
	size_t found = t->count;

	*is_certain = false;
	for (size_t i = 0; i + 1 < t->count; i++) {
		struct estimate step = trend_step(t, i, i + 1);

		*is_certain = step.high < least;
		if (*is_certain)
			return i;
		if (step.value < least && found == t->count)
			found = i;
	}
	return found;
}

static void judge_ends(struct claim_case *c, const struct trend *t)
{
	struct estimate whole = trend_step(t, 0, t->count - 1);
	bool rising = t->claim->relation == CLAIM_RISING;
	bool fails = whole.high < 1 || (!whole.has_interval && whole.value <= 1);
	char from[64], to[64];

	if (whole.low > 1)
		return;
	axis_text(t, 0, from, sizeof(from));
	axis_text(t, t->count - 1, to, sizeof(to));
	if (fails)
		claim_case_decide(c, CLAIM_FAILS,
				  fs_path("it does not %s between %s and %s", rising ? "rise" : "fall", from, to));
	else
		claim_case_decide(
		    c, CLAIM_NOT_JUDGED,
		    fs_path("too close to call whether it %s between %s and %s", rising ? "rises" : "falls", from, to));
}

/* Rising or falling. */
static void judge_monotone(struct claim_case *c, const struct trend *t)
{
	struct estimate whole = estimate_ratio(&t->samples[t->count - 1], &t->samples[0]);
	bool is_certain;
	size_t wrong = find_wrong_step(t, &is_certain);
	char from[64], to[64];

	claim_case_measure(c, t->claim, &whole);
	if (wrong == t->count) {
		judge_ends(c, t);
		return;
	}
	claim_case_decide(c, is_certain ? CLAIM_FAILS : CLAIM_NOT_JUDGED,
			  fs_path("%sfrom %s to %s it %s", is_certain ? "" : "too close to call: ",
				  axis_text(t, wrong, from, sizeof(from)), axis_text(t, wrong + 1, to, sizeof(to)),
				  t->claim->relation == CLAIM_RISING ? "falls" : "rises"));
}

static void judge_flat(struct claim_case *c, const struct trend *t)
{
	double bound = 1 + t->claim->tolerance;
	size_t least = 0, most = 0;
	char from[64], to[64];

	for (size_t i = 1; i < t->count; i++) {
		least = t->samples[i].value < t->samples[least].value ? i : least;
		most = t->samples[i].value > t->samples[most].value ? i : most;
	}

	struct estimate spread = estimate_ratio(&t->samples[most], &t->samples[least]);
	bool fails = spread.low > bound;

	claim_case_measure(c, t->claim, &spread);
	if (spread.high > bound)
		claim_case_decide(c, fails ? CLAIM_FAILS : CLAIM_NOT_JUDGED,
				  fs_path("%sat %s it is %.3g times that at %s",
					  fails ? "" : "too close to call: ", axis_text(t, most, from, sizeof(from)),
					  spread.value, axis_text(t, least, to, sizeof(to))));
}

/* Judge the trend to which point `of` belongs; the case also gets the ids of its points. `error`: how often one of its
 * intervals may miss the truth. */
static void claim_trend_judge(struct claim_case *c, const struct claim_pairing *p, const struct summary_point *of,
			      double error)
{
	struct trend t;
	char *why;

	trend_gather(&t, p, of);
	for (size_t i = 0; i < t.count; i++)
		point_ids_add(&c->points, t.points[i]->id);
	why = trend_read(&t);
	/* As many intervals as points: each step, and that of both ends. */
	for (size_t i = 0; i < t.count; i++)
		t.samples[i].error = error / (double)t.count;
	if (why)
		claim_case_decide(c, CLAIM_NOT_JUDGED, why);
	else if (p->claim->relation == CLAIM_FLAT)
		judge_flat(c, &t);
	else
		judge_monotone(c, &t);
	trend_free(&t);
}

/* --- case by case --- */

static void judge_numbers(struct claim_case *c, const struct claim *claim, const struct sample *a,
			  const struct sample *b)
{
	struct estimate e;

	if (claim->relation == CLAIM_RATIO && b->value == 0) {
		claim_case_decide(c, CLAIM_NOT_JUDGED, fs_path("the value to compare with is 0"));
		return;
	}
	e = claim->relation == CLAIM_VALUE   ? estimate_value(a)
	    : claim->relation == CLAIM_RATIO ? estimate_ratio(a, b)
					     : estimate_difference(a, b);
	claim_case_bound(c, claim, &e);
}

/* Judge a point and what it is compared with. `error`: how often its interval may miss the truth. */
static void judge_point(struct claim_case *c, const struct claim_pairing *p, const struct summary_point *point,
			double error)
{
	bool is_alone = p->claim->relation == CLAIM_VALUE;
	struct sample a = {0}, b = {0};
	char *why = NULL;
	const struct summary_point *partner = is_alone ? NULL : claim_pairing_partner(p, point, &why);

	point_ids_add(&c->points, point->id);
	if (partner)
		point_ids_add(&c->against, partner->id);
	if (!why && claim_point_sample(point, &p->claim->metric, p->claim->rules, &a, &why) &&
	    (is_alone || claim_point_sample(partner, &p->claim->against.metric, p->claim->rules, &b, &why))) {
		a.error = b.error = error;
		judge_numbers(c, p->claim, &a, &b);
	} else {
		claim_case_decide(c, CLAIM_NOT_JUDGED, why);
	}
	claim_sample_free(&a);
	claim_sample_free(&b);
}

/* Points of one trend share a case: that of the first. */
static bool is_first_of_trend(const struct claim_pairing *p, size_t index)
{
	const json_t *group = claim_pairing_group(p, p->points.points[index]);

	return (size_t)json_integer_value(json_array_get(group, 0)) == index;
}

static void judge_pool(struct claim_verdict *v, const struct claim_pairing *p)
{
	struct claim_case c = claim_case_make(fs_path("%zu cases", p->points.count));

	claim_pool_judge(&c, p);
	claim_verdict_add_case(v, c);
}

/* A claim is about all of its cases, each of which could be wrong: they share the error (Bonferroni). */
static double error_of_case(const struct claim_pairing *p)
{
	size_t cases = 0;

	for (size_t i = 0; i < p->points.count; i++)
		cases += !claim_is_trend(p->claim) || is_first_of_trend(p, i);
	return CLAIM_ERROR / (double)(cases ? cases : 1);
}

static void judge_cases(struct claim_verdict *v, const struct claim_pairing *p)
{
	const double error = error_of_case(p);

	for (size_t i = 0; i < p->points.count; i++) {
		const struct summary_point *point = p->points.points[i];
		struct claim_case c;

		if (claim_is_trend(p->claim) && !is_first_of_trend(p, i))
			continue;
		c = claim_case_make(claim_pairing_label(p, point));
		if (claim_is_trend(p->claim))
			claim_trend_judge(&c, p, point, error);
		else
			judge_point(&c, p, point, error);
		claim_verdict_add_case(v, c);
	}
}

/* --- the claim as a whole --- */

static int side_by_point(const void *point, const void *side)
{
	json_int_t want = *(const json_int_t *)point, is = ((const struct claim_side_granted *)side)->point;

	return (want > is) - (want < is);
}

/* What the points of one side of a claim were granted; `list` has room for all. */
static void add_granted(struct claim_machine *to, const struct claim_side_granted **list, const struct claim_side *side)
{
	const struct claim_run *run = side->run;

	for (size_t i = 0; run && run->side_count && i < side->count; i++) {
		json_int_t id = side->points[i]->id;
		const struct claim_side_granted *s =
		    bsearch(&id, run->sides, run->side_count, sizeof(*s), side_by_point);

		while (s && s > run->sides && s[-1].point == id)
			s--;
		for (; s && s < run->sides + run->side_count && s->point == id; s++)
			list[to->side_count++] = s;
	}
}

static size_t granted_most(const struct claim_side *side)
{
	return side->run ? side->run->side_count : 0;
}

/* The needs that the machine does not meet; NULL: none. Both runs are from the same machine. */
static char *lacking(const struct claim_pairing *p)
{
	const struct claim_run *run = p->points.run;
	size_t most = granted_most(&p->points) + granted_most(&p->against);
	const struct claim_side_granted **sides = or_abort(calloc(most + 1, sizeof(*sides)));
	struct claim_machine machine = {run->record, {run->state[0], run->state[1]}, sides, 0};
	char why[256];
	bool met;

	add_granted(&machine, sides, &p->points);
	add_granted(&machine, sides, &p->against);
	met = claim_needs_met(p->claim, &machine, why, sizeof(why));
	free(sides);
	return met ? NULL : fs_path("%s", why);
}

static size_t count_cases(const struct claim_verdict *v, enum claim_outcome verdict, const struct claim_case **first)
{
	size_t count = 0;

	for (size_t i = 0; i < v->case_count; i++)
		if (v->cases[i].verdict == verdict && !count++)
			*first = &v->cases[i];
	return count;
}

/* "rc: 0.62 is above 0.5 (and 1 case more)" */
static char *why_as_a_whole(const struct claim_case *first, size_t count)
{
	char more[64] = "";

	if (count > 1)
		snprintf(more, sizeof(more), " (and %zu case%s more)", count - 1, count == 2 ? "" : "s");
	return fs_path("%s%s%s%s", first->label, *first->label ? ": " : "", first->why, more);
}

/* A single failing case decides; otherwise one that cannot be judged. */
static void decide_by_cases(struct claim_verdict *v)
{
	static const enum claim_outcome decisive[] = {CLAIM_FAILS, CLAIM_NOT_JUDGED};
	const struct claim_case *first = NULL;

	v->verdict = CLAIM_HOLDS;
	v->why = fs_path("%s", "");
	for (size_t i = 0; v->verdict == CLAIM_HOLDS && i < 2; i++) {
		size_t count = count_cases(v, decisive[i], &first);

		if (!count)
			continue;
		free(v->why);
		v->verdict = decisive[i];
		v->why = why_as_a_whole(first, count);
	}
}

/* No conclusion is possible because of `why`, which is taken; the measured values are kept for display. */
static void withdraw(struct claim_verdict *v, char *why)
{
	v->verdict = CLAIM_NOT_JUDGED;
	v->why = why;
	for (size_t i = 0; i < v->case_count; i++)
		claim_case_decide(&v->cases[i], CLAIM_NOT_JUDGED, fs_path("%s", why));
}

/* Judge all cases. Returns why no conclusion is possible, or NULL. */
static char *judge_claim(struct claim_verdict *v, const struct claim *claim, const struct claim_run *run,
			 const struct claim_run *runs, size_t count)
{
	struct claim_pairing p;
	char *why;

	if (claim->unknown_relation)
		return fs_path("this version of kblat does not know the relation '%s'", claim->unknown_relation);
	why = claim_pairing_make(&p, claim, run, runs, count);
	if (!why) {
		(claim->pools ? judge_pool : judge_cases)(v, &p);
		why = lacking(&p);
	}
	claim_pairing_free(&p);
	return why;
}

static struct claim_verdict judge_whole(const struct claim *claim, const struct claim_run *run,
					const struct claim_run *runs, size_t count)
{
	struct claim_verdict v = {
	    .origin = claim->origin,
	    .experiment = fs_path("%s", json_text(run->resolved, "name")),
	    .id = or_abort(strdup(claim->id)),
	    .claim = or_abort(strdup(claim->text)),
	    .source = or_abort(strdup(claim->source)),
	    .measured_by_source = or_abort(strdup(claim->measured_by_source)),
	    .metric = or_abort(strdup(claim->metric.text)),
	    .wanted = claim_wanted_text(claim),
	};
	char *why = judge_claim(&v, claim, run, runs, count);

	v.measured = claim_cases_text(claim, v.cases, v.case_count);
	if (why)
		withdraw(&v, why);
	else
		decide_by_cases(&v);
	return v;
}

/* Judge the claims of all runs, in order, using what all of the runs have measured. Pure. */
struct claim_verdicts claims_judge_read(const struct claim_run *runs, size_t count)
{
	struct claim_verdicts all = {0};

	for (size_t i = 0; i < count; i++) {
		struct claim_list list = claim_list_of_run(runs[i].resolved);

		for (size_t k = 0; k < list.count; k++)
			claim_verdicts_add(&all, judge_whole(&list.claims[k], &runs[i], runs, count));
		claim_list_free(&list);
	}
	return all;
}

/* --- the claims of runs --- */

bool claims_are_made(const json_t *resolved)
{
	return json_array_size(json_object_get(resolved, "claims")) > 0;
}

int claims_judge(const struct run *runs, size_t count, struct claim_verdicts *out, struct err *e)
{
	struct claim_run *all = or_abort(calloc(count + 1, sizeof(*all)));
	int rc = 0;

	*out = (struct claim_verdicts){0};
	for (size_t i = 0; !rc && i < count; i++)
		rc = claim_run_read(&runs[i], &all[i], e);
	if (!rc)
		*out = claims_judge_read(all, count);
	for (size_t i = 0; i < count; i++)
		claim_run_free(&all[i]);
	free(all);
	return rc;
}

json_t *claims_of_runs(const struct run *runs, size_t count, struct err *e)
{
	struct claim_verdicts verdicts;
	json_t *document = NULL;

	if (!claims_judge(runs, count, &verdicts, e))
		document = claim_verdicts_to_json(&verdicts);
	claim_verdicts_free(&verdicts);
	return document;
}

static bool makes_claims(const struct run *run)
{
	return claims_are_made(run->resolved);
}

static json_t *own_claims(const struct run *run, struct err *e)
{
	return claims_of_runs(run, 1, e);
}

const struct verify_more claims_files[] = {
    {"claims.json", makes_claims, own_claims, "it differs from a new judgement"},
    {.file = NULL},
};

struct claim_verdicts claims_read(const char *dir)
{
	char *path = fs_path("%s/claims.json", dir);
	struct err ignored = ERR_INIT;
	json_t *document = fs_is_missing(path) ? NULL : schema_read(DOC_CLAIMS, path, &ignored);
	struct claim_verdicts verdicts = claim_verdicts_from_json(document);

	json_decref(document);
	free(path);
	return verdicts;
}

/* --- verdicts as tables --- */

#define CELL_MAX 1100

#define TEXT(field) offsetof(struct claim_verdict, field)
#define VERDICT	    SIZE_MAX /* instead of the offset of a text: the verdict itself */

static const char *verdict_text(const struct claim_verdict *v, size_t offset)
{
	return offset == VERDICT ? claim_outcome_names[v->verdict] : *(char *const *)((const char *)v + offset);
}

/* --- for reading --- */

static const struct table_column columns[] = {
    {.label = "verdict", .wrap = 10},
    {.label = "claim", .wrap = 46},
    {.label = "the source", .wrap = 16},
    {.label = "measured", .wrap = 22},
};

/* Of each column. */
static const size_t contents[] = {VERDICT, TEXT(claim), TEXT(measured_by_source), TEXT(measured)};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* Is it about points that were not measured, such as those that --only has left out? */
static bool is_about_others(const struct claim_verdict *v)
{
	return v->verdict == CLAIM_NOT_JUDGED && !strcmp(v->why, CLAIM_WITHOUT_POINT);
}

static struct table table_of_claims(const struct claim_verdicts *all)
{
	struct table t = table_of(columns, COLUMNS, 0);
	bool several = claim_verdicts_of_several(all);
	const char *last = "";

	for (size_t n = 0; n < all->count; n++) {
		const struct claim_verdict *v = &all->all[n];
		size_t i;

		if (is_about_others(v))
			continue;
		i = table_row(&t);
		if (several && strcmp(v->experiment, last))
			table_above(&t, i, "%s", v->experiment);
		last = v->experiment;
		for (size_t c = 0; c < COLUMNS; c++)
			table_text(&t, c, i, "%s", verdict_text(v, contents[c]));
		table_note(&t, i, "%s, wanted: %s of %s%s%s", v->id, v->wanted, v->metric, *v->why ? "; " : "", v->why);
	}
	return t;
}

/* They are not judged, but a line is enough for them. */
static void put_others(const struct claim_verdicts *all, FILE *out)
{
	size_t count = 0;

	for (size_t i = 0; i < all->count; i++)
		if (is_about_others(&all->all[i]))
			fprintf(out, "%s%s",
				count++ ? ", " : "\nabout points that were not measured: ", all->all[i].id);
	if (count)
		fputc('\n', out);
}

/* "12 claims", "1 claim of ours" */
static void put_count(size_t count, const char *of, const size_t outcomes[CLAIM_OUTCOMES], FILE *out)
{
	fprintf(out, "%zu claim%s%s: %zu hold%s, %zu fail%s, %zu not judged\n", count, count == 1 ? "" : "s", of,
		outcomes[CLAIM_HOLDS], outcomes[CLAIM_HOLDS] == 1 ? "s" : "", outcomes[CLAIM_FAILS],
		outcomes[CLAIM_FAILS] == 1 ? "s" : "", outcomes[CLAIM_NOT_JUDGED]);
}

void claims_counts(const struct claim_verdicts *v, FILE *out)
{
	static const char *const of[CLAIM_ORIGINS] = {" of the source", " of ours", " of the measurement itself"};
	size_t outcomes[CLAIM_ORIGINS][CLAIM_OUTCOMES], count[CLAIM_ORIGINS] = {0};
	bool mixed;

	for (enum claim_origin o = 0; o < CLAIM_ORIGINS; o++)
		for (enum claim_outcome c = 0; c < CLAIM_OUTCOMES; c++)
			count[o] += outcomes[o][c] = claim_verdicts_count_of(v, o, c);
	mixed = count[CLAIM_OF_SOURCE] < v->count;
	fputc('\n', out);
	for (enum claim_origin o = 0; o < CLAIM_ORIGINS; o++)
		if (count[o] || (!mixed && o == CLAIM_OF_SOURCE))
			put_count(count[o], mixed ? of[o] : "", outcomes[o], out);
}

void claims_table(const struct claim_verdicts *v, FILE *out)
{
	const struct table_style style = {.note_indent = 12, .note_width = 88};
	struct table t = table_of_claims(v);

	if (t.rows)
		table_print(&t, &style, out);
	put_others(v, out);
	claims_counts(v, out);
	table_free(&t);
}

/* --- for programs --- */

void claims_tsv(const struct claim_verdicts *v, FILE *out)
{
	static const struct {
		const char *name;
		size_t offset;
	} cells[] = {
	    {"experiment", TEXT(experiment)},
	    {"id", TEXT(id)},
	    {"claim", TEXT(claim)},
	    {"source", TEXT(source)},
	    {"measured_by_source", TEXT(measured_by_source)},
	    {"metric", TEXT(metric)},
	    {"wanted", TEXT(wanted)},
	    {"measured", TEXT(measured)},
	    {"verdict", VERDICT},
	    {"why", TEXT(why)},
	};
	size_t last = sizeof(cells) / sizeof(cells[0]) - 1;
	char clean[CELL_MAX];

	for (size_t k = 0; k <= last; k++)
		fprintf(out, "%s%c", cells[k].name, k < last ? '\t' : '\n');
	for (size_t i = 0; i < v->count; i++)
		for (size_t k = 0; k <= last; k++) {
			const char *text = verdict_text(&v->all[i], cells[k].offset);

			/* Tabs and newlines are control characters, which cleaning removes. */
			fprintf(out, "%s%c", text_clean(text, strlen(text), clean, sizeof(clean)),
				k < last ? '\t' : '\n');
		}
}
