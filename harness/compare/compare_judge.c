#include "compare/compare_judge.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/param.h"
#include "common/fs.h"
#include "compare/compare_answer.h"
#include "compare/compare_boots.h"
#include "compare/compare_perm.h"
#include "rundir/flows.h"

#define MEDIAN_LEVEL 0.8 /* about what max-T leaves to the medians of all points, of alpha */
#define LABEL_VALUE  64

/* A point's quantity while it is judged. */
struct entry {
	const struct compare_point *point;
	const struct compare_values *values;
	double margin; /* in its own unit */
	const char *margin_from;
	struct perm_quantity *perm;
};

const char *const compare_verdicts[COMPARE_VERDICTS] = {"regression", "improvement", "equivalent", "undecided"};

/* --- the margin --- */

/* Stamps are whole nanoseconds; a counter may be coarser. */
static double resolution_ns(const struct compare_runs *runs)
{
	double coarsest = 1;

	for (size_t i = 0; i < runs->count; i++) {
		const json_t *clock = json_object_get(runs->run[i].run.run, "clock");
		double hz = json_number_value(json_object_get(clock, "hz"));

		if (hz > 0)
			coarsest = fmax(coarsest, 1e9 / hz);
	}
	return coarsest;
}

double compare_noise(const struct compare_values *v, size_t base, uint64_t seed)
{
	double *own = calloc(base + 1, sizeof(*own)), noise;
	size_t n = 0;

	if (!own)
		abort();
	for (size_t i = 0; i < base; i++)
		if (!isnan(v->value[i]))
			own[n++] = v->value[i];
	noise = perm_noise_floor(own, n, seed);
	free(own);
	return noise;
}

/* The least step that a number can take. */
static double resolution_of(const struct compare_values *v, const struct compare_runs *runs)
{
	return v->of.measure == MEASURE_SHARE	 ? 1 / v->messages
	       : v->of.measure == MEASURE_SERIES ? resolution_ns(runs)
						 : 0;
}

static void set_margin(struct entry *t, const struct compare_join *j, const struct compare_rule *rule)
{
	const struct compare_values *v = t->values;
	double steps = 2 * resolution_of(v, j->runs);
	double noise = compare_amount(v, compare_noise(v, j->runs->units[ARM_BASE], rule->seed));

	t->margin = rule->margin * fabs(v->level[ARM_BASE]);
	t->margin_from = "least";
	if (steps > t->margin) {
		t->margin = steps;
		t->margin_from = "clock";
	}
	if (noise > t->margin) {
		t->margin = noise;
		t->margin_from = "noise";
	}
}

/* --- a verdict --- */

static bool is_within(const struct entry *t, double low, double high)
{
	return compare_amount(t->values, low) > -t->margin && compare_amount(t->values, high) < t->margin;
}

/*
 * An alarm is of all quantities together; that one is equivalent is its own: two tests, each of one
 * side (Schuirmann 1987). To say so of all takes no allowance for their number, as each must pass.
 */
static int entry_verdict(const struct entry *t)
{
	bool better = t->values->of.less_is_worse;
	const struct perm_quantity *q = t->perm;

	if (is_within(t, q->low, q->high))
		return COMPARE_EQUIVALENT;
	if (q->low > 0)
		return better ? COMPARE_IMPROVEMENT : COMPARE_REGRESSION;
	if (q->high < 0)
		return better ? COMPARE_REGRESSION : COMPARE_IMPROVEMENT;
	return is_within(t, q->low_alone, q->high_alone) ? COMPARE_EQUIVALENT : COMPARE_UNDECIDED;
}

static json_t *number_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *percent(double share)
{
	return number_or_null(100 * share);
}

/* An end of an interval, as an amount and in per cent. */
static json_t *end_amount(const struct compare_values *v, double end)
{
	return isfinite(end) ? number_or_null(compare_amount(v, end)) : json_null();
}

static json_t *end_percent(const struct compare_values *v, double end)
{
	return isfinite(end) ? percent(compare_share(v, end)) : json_null();
}

/* Can a change for the worse that is larger than the margin not be excluded? */
static bool may_be_worse(const struct entry *t)
{
	if (t->values->of.less_is_worse)
		return !(compare_amount(t->values, t->perm->low_alone) > -t->margin);
	return !(compare_amount(t->values, t->perm->high_alone) < t->margin);
}

static json_t *entry_json(const struct entry *t)
{
	const struct compare_values *v = t->values;
	const struct perm_quantity *q = t->perm;

	return json_pack(
	    "{s:s, s:s, s:b, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:f, s:f, s:o, s:s}",
	    "quantity", v->of.key, "verdict", compare_verdicts[entry_verdict(t)], "may_be_worse", may_be_worse(t),
	    "unit", compare_quantity_unit(&v->of, t->point->metric), "base", number_or_null(v->level[ARM_BASE]), "with",
	    number_or_null(v->level[ARM_WITH]), "effect", number_or_null(compare_amount(v, q->effect)),
	    "effect_percent", percent(compare_share(v, q->effect)), "low", end_amount(v, q->low), "high",
	    end_amount(v, q->high), "low_percent", end_percent(v, q->low), "high_percent", end_percent(v, q->high),
	    "low_alone", end_amount(v, q->low_alone), "high_alone", end_amount(v, q->high_alone), "low_alone_percent",
	    end_percent(v, q->low_alone), "high_alone_percent", end_percent(v, q->high_alone), "p", q->p, "p_alone",
	    q->p_alone, "margin", t->margin, "margin_percent", percent(t->margin / fabs(v->level[ARM_BASE])),
	    "margin_from", t->margin_from);
}

/* --- points --- */

static bool points_vary_in(const struct compare_join *j, const char *key)
{
	for (size_t i = 1; i < j->count; i++) {
		const json_t *a = json_object_get(j->point[0].params, key),
			     *b = json_object_get(j->point[i].params, key);

		if (a != b && (!a || !b || !json_equal(a, b)))
			return true;
	}
	return false;
}

char *compare_label(const struct compare_join *j, const struct compare_point *p)
{
	char *label = fs_path("%s", p->flow), name[LABEL_VALUE], text[LABEL_VALUE];
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)p->params, key, value) {
		enum unit unit = param_name_unit(key, name, sizeof(name));
		bool word = json_is_string(value) && flows_owns("", key);
		char *longer;

		if (!points_vary_in(j, key))
			continue;
		longer = fs_path("%s%s%s%s%s", label, *label ? ", " : "", word ? "" : name, word ? "" : " ",
				 param_value_text(value, unit, text, sizeof(text)));
		free(label);
		label = longer;
	}
	return label;
}

static json_t *judge_point_json(const struct compare_join *j, const struct compare_point *p)
{
	char *label = compare_label(j, p);
	json_t *point =
	    json_pack("{s:I, s:s, s:O, s:s, s:{s:i, s:i}, s:O, s:[], s:[]}", "id", p->id, "label", label, "params",
		      p->params, "metric", p->metric ? p->metric : "", "left_out", "base", (int)p->left_out[ARM_BASE],
		      "with", (int)p->left_out[ARM_WITH], "reasons", p->reasons, "quantities", "not_compared");

	for (size_t q = 0; q < p->quantity_count; q++)
		if (p->quantity[q].why && *p->quantity[q].why)
			json_array_append_new(
			    json_object_get(point, "not_compared"),
			    json_pack("{s:s, s:s}", "quantity", p->quantity[q].of.key, "why", p->quantity[q].why));
	free(label);
	return point;
}

/* --- how many units are needed --- */

size_t compare_units_least(const struct compare_runs *runs)
{
	return runs->pairs ? COMPARE_PAIRS : COMPARE_UNITS;
}

/* How much a unit varies. Without two units in an arm only what their runs leave of it is known,
 * which is less. */
static double stdev_of(const struct compare_join *j, const struct compare_values *v)
{
	double runs = (double)j->runs->count / (double)(j->runs->units[ARM_BASE] + j->runs->units[ARM_WITH]);

	return isnan(v->stdev_units) ? v->stdev_runs / sqrt(runs) : v->stdev_units;
}

json_t *compare_needed(const struct compare_join *j, const struct compare_rule *rule)
{
	double level = MEDIAN_LEVEL * COMPARE_ALPHA / (double)(j->count ? j->count : 1);
	json_t *needed = json_null();
	size_t most = 0;

	for (size_t i = 0; i < j->count; i++) {
		/* Of a series, the median. */
		const struct compare_values *v = j->point[i].quantity;
		double stdev, effect = log1p(rule->effect);
		size_t n;

		if (!j->point[i].quantity_count || !v->value || isnan(stdev = stdev_of(j, v)))
			continue;
		if (!v->logarithms) {
			stdev /= fabs(v->level[ARM_BASE]);
			effect = rule->effect;
		}
		n = boots_needed(effect, stdev, level, COMPARE_POWER, compare_units_least(j->runs));
		if (n <= most)
			continue;
		most = n;
		json_decref(needed);
		needed = json_pack("{s:i, s:b, s:f, s:I, s:o, s:o}", "units", (int)n, "at_least",
				   isnan(v->stdev_units) || n >= BOOTS_MOST, "effect_percent", 100 * rule->effect,
				   "point", j->point[i].id, "stdev_units_percent", percent(v->stdev_units),
				   "stdev_runs_percent", percent(v->stdev_runs));
	}
	return needed;
}

/* --- all of it --- */

static size_t runs_of(const struct compare_runs *runs, enum compare_arm arm)
{
	size_t n = 0;

	for (size_t i = 0; i < runs->count; i++)
		n += runs->run[i].arm == arm;
	return n;
}

static json_t *arm_json(const struct compare_runs *runs, enum compare_arm arm)
{
	return json_pack("{s:i, s:i, s:o, s:o, s:o}", "runs", (int)runs_of(runs, arm), "units", (int)runs->units[arm],
			 "kernels", compare_values(runs, arm, FIELD_KERNEL), "hosts",
			 compare_values(runs, arm, FIELD_HOSTS), "boots", compare_values(runs, arm, FIELD_BOOT));
}

static void add_notes(const struct compare_runs *runs, json_t *notes)
{
	json_t *hosts[ARMS], *kernels;

	for (enum compare_arm arm = 0; arm < ARMS; arm++) {
		kernels = compare_values(runs, arm, FIELD_KERNEL);
		if (json_array_size(kernels) > 1)
			json_array_append_new(notes, json_sprintf("%s holds runs of %zu kernels", compare_arm_name[arm],
								  json_array_size(kernels)));
		json_decref(kernels);
		hosts[arm] = compare_values(runs, arm, FIELD_HOSTS);
	}
	if (!json_equal(hosts[ARM_BASE], hosts[ARM_WITH]))
		json_array_append_new(notes, json_string("the arms were measured on different machines"));
	if (runs->kind == UNIT_RUN && !runs->in_turn)
		json_array_append_new(notes,
				      json_string("the runs were not taken in turn (one of each arm, in random order, "
						  "then the next): a drift of the machine would look like an effect"));
	json_decref(hosts[ARM_BASE]);
	json_decref(hosts[ARM_WITH]);
}

static json_t *judge_head_json(const struct compare_join *j, const struct compare_rule *rule)
{
	const char *name = json_string_value(json_object_get(j->runs->run[0].run.resolved, "name"));
	json_t *notes = json_deep_copy(j->notes);

	add_notes(j->runs, notes);
	return json_pack("{s:i, s:s, s:s, s:s, s:s, s:b, s:b, s:f, s:f, s:f, s:I, s:n, s:o, s:o, s:o, s:o, s:[]}",
			 "schema", 1, "verdict", "undecided", "answer", "", "experiment", name ? name : "", "unit",
			 compare_unit_name[j->runs->kind], "pairs", j->runs->pairs, "in_turn", j->runs->in_turn,
			 "alpha", COMPARE_ALPHA, "least_margin_percent", 100 * rule->margin, "effect_percent",
			 100 * rule->effect, "seed", (json_int_t)rule->seed, "relabellings", "base",
			 arm_json(j->runs, ARM_BASE), "with", arm_json(j->runs, ARM_WITH), "notes", notes, "needed",
			 compare_needed(j, rule), "points");
}

static size_t collect_entries(const struct compare_join *j, const struct compare_rule *rule, struct entry *entries,
			      struct perm_quantity *perms)
{
	size_t n = 0;

	for (size_t i = 0; i < j->count; i++)
		for (size_t q = 0; q < j->point[i].quantity_count; q++) {
			const struct compare_values *v = &j->point[i].quantity[q];

			if (!v->value)
				continue;
			perms[n] = (struct perm_quantity){.value = v->value, .weight = v->of.weight};
			entries[n] = (struct entry){.point = &j->point[i], .values = v, .perm = &perms[n]};
			set_margin(&entries[n], j, rule);
			n++;
		}
	return n;
}

/* A quantity that too few units of an arm have. */
static bool is_judged(const struct compare_join *j, const struct entry *t)
{
	size_t least = compare_units_least(j->runs), n[ARMS] = {0};

	for (size_t u = 0; u < j->runs->units[ARM_BASE] + j->runs->units[ARM_WITH]; u++)
		n[u >= j->runs->units[ARM_BASE]] += !isnan(t->values->value[u]);
	return t->perm->known && n[ARM_BASE] >= least && n[ARM_WITH] >= least;
}

static json_t *find_point(json_t *points, const struct compare_join *j, const struct compare_point *p)
{
	return json_array_get(points, (size_t)(p - j->point));
}

static void add_entry(const struct compare_join *j, json_t *points, const struct entry *t)
{
	json_t *point = find_point(points, j, t->point);

	if (is_judged(j, t))
		json_array_append_new(json_object_get(point, "quantities"), entry_json(t));
	else
		json_array_append_new(
		    json_object_get(point, "not_compared"),
		    json_pack("{s:s, s:s}", "quantity", t->values->of.key, "why", "valid in too few units of an arm"));
}

/* All points' quantities and what the relabellings say of them. */
struct judged {
	struct entry *entries;
	struct perm_quantity *perms;
	size_t n;
};

static void judged_free(struct judged *all)
{
	free(all->entries);
	free(all->perms);
}

/* 0 or a negative errno; judged_free() in both cases. */
static int judge_with(const struct compare_join *j, const struct compare_rule *rule, const struct perm_plan *plan,
		      struct judged *all)
{
	size_t most = 1;

	for (size_t i = 0; i < j->count; i++)
		most += j->point[i].quantity_count;

	*all = (struct judged){calloc(most, sizeof(*all->entries)), calloc(most, sizeof(*all->perms)), 0};
	if (!all->entries || !all->perms)
		return -ENOMEM;
	all->n = collect_entries(j, rule, all->entries, all->perms);
	return perm_judge(plan, all->perms, all->n, COMPARE_ALPHA);
}

static int judge_entries(const struct compare_join *j, const struct compare_rule *rule, json_t *result)
{
	struct perm_plan plan;
	struct judged all;
	int rc = perm_plan_make(&plan, j->runs->units[ARM_BASE], j->runs->units[ARM_WITH], j->runs->pairs, PERM_MAX,
				rule->seed);

	if (rc)
		return rc;
	rc = judge_with(j, rule, &plan, &all);
	for (size_t i = 0; !rc && i < all.n; i++)
		add_entry(j, json_object_get(result, "points"), &all.entries[i]);
	json_object_set_new(result, "relabellings",
			    json_pack("{s:I, s:b}", "count", (json_int_t)plan.count, "exact", plan.exact));
	judged_free(&all);
	perm_plan_free(&plan);
	return rc;
}

int compare_verdict(const struct compare_join *j, const struct compare_rule *rule, const struct perm_plan *plan,
		    size_t *verdict)
{
	size_t counts[COMPARE_VERDICTS] = {0};
	struct judged all;
	int rc = judge_with(j, rule, plan, &all);

	for (size_t i = 0; !rc && i < all.n; i++)
		if (is_judged(j, &all.entries[i]))
			counts[entry_verdict(&all.entries[i])]++;
	*verdict = counts[COMPARE_REGRESSION]	 ? COMPARE_REGRESSION
		   : counts[COMPARE_IMPROVEMENT] ? COMPARE_IMPROVEMENT
		   : counts[COMPARE_UNDECIDED]	 ? COMPARE_UNDECIDED
						 : COMPARE_EQUIVALENT;
	judged_free(&all);
	return rc;
}

static bool is_enough(const struct compare_runs *runs)
{
	size_t least = compare_units_least(runs);

	return runs->units[ARM_BASE] >= least && runs->units[ARM_WITH] >= least;
}

json_t *compare_judge(const struct compare_join *j, const struct compare_rule *rule, struct err *e)
{
	json_t *result = judge_head_json(j, rule), *points = json_object_get(result, "points");
	int rc = 0;

	for (size_t i = 0; i < j->count; i++)
		json_array_append_new(points, judge_point_json(j, &j->point[i]));
	if (is_enough(j->runs))
		rc = judge_entries(j, rule, result);
	if (rc) {
		json_decref(result);
		if (rc == -EINVAL)
			err_set(e, rc, STATUS_USAGE, NULL, "compare", "over %d units (boots or runs)", PERM_UNITS);
		else
			err_sys(e, rc, NULL, "compare");
		return NULL;
	}
	compare_answer(result);
	return result;
}
