#include "judge/claims/claim_pairing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/units.h"
#include "files/claim/claim.h"
#include "files/rundir/flows.h"
#include "judge/analysis/param.h"
#include "judge/analysis/summary.h"
#include "judge/claims/claim_metric.h"

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

char *claim_pairing_make(struct claim_pairing *p, const struct claim *claim, const struct claim_run *run,
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

void claim_pairing_free(struct claim_pairing *p)
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

const json_t *claim_pairing_group(const struct claim_pairing *p, const struct summary_point *point)
{
	return agreeing(p, &p->points, point);
}

const struct summary_point *claim_pairing_partner(const struct claim_pairing *p, const struct summary_point *point,
						  char **why)
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

char *claim_pairing_label(const struct claim_pairing *p, const struct summary_point *point)
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

void claim_pool_judge(struct claim_case *c, const struct claim_pairing *p)
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
