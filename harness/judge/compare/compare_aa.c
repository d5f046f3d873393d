#include "judge/compare/compare_aa.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "common/random.h"
#include "common/table.h"
#include "common/table_print.h"
#include "judge/compare/compare_perm.h"
#include "judge/compare/compare_verdict.h"
#include "judge/compare/comparison.h"

#define RELABELLINGS 2000 /* per split; some hundred splits are judged */
#define WIDTH	     110

/* Arrange the units of the base in the given order, whose first half is compared with the second. */
static void fill_halves(struct compare_join *to, const struct compare_join *from, const size_t *order)
{
	size_t units = from->runs->units[ARM_BASE];

	for (size_t i = 0; i < from->count; i++)
		for (size_t q = 0; q < from->point[i].quantity_count; q++)
			for (size_t u = 0; from->point[i].quantity[q].value && u < units; u++)
				to->point[i].quantity[q].value[u] = from->point[i].quantity[q].value[order[u]];
}

static struct compare_join copy_of(const struct compare_join *from, const struct compare_runs *halves)
{
	struct compare_join to = {.runs = halves, .count = from->count};
	size_t units = from->runs->units[ARM_BASE];

	to.point = or_abort(calloc(from->count + 1, sizeof(*to.point)));
	for (size_t i = 0; i < from->count; i++) {
		struct compare_point *p = &to.point[i];
		size_t size = from->point[i].quantity_count * sizeof(*p->quantity);

		*p = from->point[i];
		p->quantity = memcpy(or_abort(malloc(size)), from->point[i].quantity, size);
		for (size_t q = 0; q < p->quantity_count; q++) {
			struct compare_values *v = &p->quantity[q];

			if (!v->value)
				continue;
			v->value = or_abort(calloc(units + 1, sizeof(*v->value)));
			v->level[ARM_WITH] = v->level[ARM_BASE];
		}
	}
	return to;
}

static void copy_free(struct compare_join *j)
{
	for (size_t i = 0; i < j->count; i++) {
		for (size_t q = 0; q < j->point[i].quantity_count; q++)
			free(j->point[i].quantity[q].value);
		free(j->point[i].quantity);
	}
	free(j->point);
}

/* As either is a false alarm, a split in which some quantities are worse and others better is one that is worse. */
static enum compare_verdict verdict_of_split(enum compare_verdict overall)
{
	return overall == COMPARE_MIXED ? COMPARE_REGRESSION : overall;
}

static int judge_splits(const struct compare_join *j, const struct compare_rule *rule, size_t splits,
			struct compare_aa *out)
{
	size_t units = j->runs->units[ARM_BASE], *order = large_alloc(units + 1, sizeof(*order));
	struct compare_runs halves = *j->runs;
	struct compare_join copy;
	uint64_t state = rule->seed;
	struct perm_plan plan;
	int rc;

	halves.units[ARM_BASE] = units / 2;
	halves.units[ARM_WITH] = units - units / 2;
	halves.pairs = false;
	copy = copy_of(j, &halves);
	rc = order ? perm_plan_make(&plan, halves.units[ARM_BASE], halves.units[ARM_WITH], false, RELABELLINGS,
				    rule->seed)
		   : -ENOMEM;
	for (size_t u = 0; !rc && u < units; u++)
		order[u] = u;
	/* The first split is chronological. */
	for (size_t i = 0; !rc && i <= splits; i++) {
		enum compare_verdict verdict = COMPARE_UNDECIDED;

		fill_halves(&copy, j, order);
		rc = compare_judge_overall(&copy, rule, &plan, &verdict);
		verdict = verdict_of_split(verdict);
		if (i)
			out->count[verdict]++;
		else
			out->earlier_later = verdict;
		random_shuffle(order, units, &state);
	}
	out->splits = splits;
	if (order)
		perm_plan_free(&plan);
	free(order);
	copy_free(&copy);
	return rc;
}

/* --- the result --- */

/* The difference between halves of the base's units, on the scale of their values; NaN: there are too few. */
static double noise_of_halves(const struct compare_values *v, size_t base, uint64_t seed)
{
	double *own = or_abort(calloc(base + 1, sizeof(*own))), noise;
	size_t n = 0;

	for (size_t i = 0; i < base; i++)
		if (!isnan(v->value[i]))
			own[n++] = v->value[i];
	noise = perm_noise_floor(own, n, seed);
	free(own);
	return noise;
}

static struct aa_quantity aa_quantity_of(const struct compare_join *j, const struct compare_values *v,
					 const struct compare_rule *rule)
{
	double noise = compare_amount(v, noise_of_halves(v, j->runs->units[ARM_BASE], rule->seed));
	double percent = 100 / fabs(v->level[ARM_BASE]), scale = v->logarithms ? 100 : percent;

	return (struct aa_quantity){v->of.key,	     v->level[ARM_BASE],     noise,
				    noise * percent, v->stdev_units * scale, v->stdev_runs * scale};
}

static struct aa_point aa_point_of(const struct compare_join *j, const struct compare_point *p,
				   const struct compare_rule *rule)
{
	struct aa_point to = {
	    .id = p->id,
	    .label = compare_label(j, p),
	    .metric = fs_path("%s", p->metric ? p->metric : ""),
	    .quantities = or_abort(calloc(p->quantity_count + 1, sizeof(*to.quantities))),
	};

	for (size_t q = 0; q < p->quantity_count; q++)
		if (p->quantity[q].value)
			to.quantities[to.quantity_count++] = aa_quantity_of(j, &p->quantity[q], rule);
	return to;
}

/* The upper end of a one-sided 95 % interval for a share (Wilson 1927). */
static double upper_95(size_t k, size_t n)
{
	double z = 1.645, share = (double)k / (double)n, m = (double)n;

	return (share + z * z / (2 * m) + z * sqrt(share * (1 - share) / m + z * z / (4 * m * m))) / (1 + z * z / m);
}

static struct compare_aa aa_begin(const struct compare_join *j, const struct compare_rule *rule)
{
	struct compare_aa a = {
	    .verdict = OUTCOME_UNDECIDED,
	    .kind = j->runs->kind,
	    .units = j->runs->units[ARM_BASE],
	    .runs = j->runs->count,
	    .alpha = rule->alpha,
	    .effect = rule->effect,
	    .seed = rule->seed,
	    .needed = compare_needed(j, rule),
	    .points = or_abort(calloc(j->count + 1, sizeof(*a.points))),
	    .point_count = j->count,
	};

	for (size_t i = 0; i < j->count; i++)
		a.points[i] = aa_point_of(j, &j->point[i], rule);
	return a;
}

static void aa_answer(struct compare_aa *a)
{
	size_t alarms = a->count[COMPARE_REGRESSION] + a->count[COMPARE_IMPROVEMENT];
	bool drifts = a->earlier_later == COMPARE_REGRESSION || a->earlier_later == COMPARE_IMPROVEMENT;

	a->false_alarms = (double)alarms / (double)a->splits;
	a->false_alarms_upper_95 = upper_95(alarms, a->splits);
	/* Kernels should not be compared on a machine that drifts. */
	a->verdict = drifts ? OUTCOME_REGRESSION : OUTCOME_NONE;
	a->answer =
	    fs_path("%zu of %zu splits give a false alarm (%.1f %%; with 95 %% confidence, at most %.1f %%); the "
		    "later half compared with the earlier: %s%s",
		    alarms, a->splits, 100 * a->false_alarms, 100 * a->false_alarms_upper_95,
		    compare_verdicts[a->earlier_later], drifts ? ": this machine drifts" : "");
}

int compare_aa(const struct compare_join *j, const struct compare_rule *rule, size_t splits, struct compare_aa *out,
	       struct err *e)
{
	int rc;

	*out = aa_begin(j, rule);
	if (out->units < 2 * COMPARE_UNITS) {
		out->answer = fs_path("%zu %s%s, and splitting needs at least %d", out->units,
				      compare_unit_name[out->kind], out->units == 1 ? "" : "s", 2 * COMPARE_UNITS);
		return 0;
	}
	rc = judge_splits(j, rule, splits, out);
	if (rc) {
		compare_aa_free(out);
		return err_sys(e, rc, NULL, "compare");
	}
	aa_answer(out);
	return 0;
}

void compare_aa_free(struct compare_aa *a)
{
	for (size_t i = 0; i < a->point_count; i++) {
		free(a->points[i].label);
		free(a->points[i].metric);
		free(a->points[i].quantities);
	}
	free(a->points);
	free(a->answer);
	*a = (struct compare_aa){.answer = NULL};
}

/* --- as JSON --- */

static json_t *aa_number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *aa_points_json(const struct compare_aa *a)
{
	json_t *points = json_array();

	for (const struct aa_point *p = a->points; p < a->points + a->point_count; p++) {
		json_t *quantities = json_array();

		for (const struct aa_quantity *q = p->quantities; q < p->quantities + p->quantity_count; q++)
			json_array_append_new(quantities,
					      json_pack("{s:s, s:f, s:o, s:o, s:o, s:o}", "quantity", q->key, "level",
							q->level, "noise", aa_number(q->noise), "noise_percent",
							aa_number(q->noise_percent), "stdev_units_percent",
							aa_number(q->stdev_units_percent), "stdev_runs_percent",
							aa_number(q->stdev_runs_percent)));
		json_array_append_new(points, json_pack("{s:I, s:s, s:s, s:o}", "id", p->id, "label", p->label,
							"metric", p->metric, "quantities", quantities));
	}
	return points;
}

json_t *compare_aa_json(const struct compare_aa *a)
{
	json_t *counts = json_object(),
	       *all = json_pack("{s:i, s:s, s:s, s:I, s:I, s:f, s:f, s:I, s:o, s:o}", "schema", 1, "verdict",
				compare_outcomes[a->verdict], "unit", compare_unit_name[a->kind], "units",
				(json_int_t)a->units, "runs", (json_int_t)a->runs, "alpha", a->alpha, "effect_percent",
				100 * a->effect, "seed", (json_int_t)a->seed, "needed",
				compare_json_needed(&a->needed, a->effect), "points", aa_points_json(a));

	for (size_t v = 0; v < COMPARE_VERDICTS; v++)
		json_object_set_new(counts, compare_verdicts[v], json_integer((json_int_t)a->count[v]));
	if (a->splits) {
		json_object_set_new(all, "splits", json_integer((json_int_t)a->splits));
		json_object_set(all, "counts", counts);
		json_object_set_new(all, "false_alarms", json_real(a->false_alarms));
		json_object_set_new(all, "false_alarms_upper_95", json_real(a->false_alarms_upper_95));
		json_object_set_new(all, "earlier_later", json_string(compare_verdicts[a->earlier_later]));
	}
	json_object_set_new(all, "answer", json_string(a->answer));
	json_decref(counts);
	return all;
}

/* --- for people --- */

enum { AA_POINT, AA_LABEL, AA_QUANTITY, AA_NOISE, AA_UNITS, AA_RUNS, AA_COLUMNS };

static struct table aa_empty_table(const struct compare_aa *a)
{
	char between_units[48];
	const struct table_column columns[AA_COLUMNS] = {
	    [AA_POINT] = {.label = "point", .align = TABLE_RIGHT},
	    [AA_LABEL] = {.label = "", .drop_order = 1},
	    [AA_QUANTITY] = {.label = "quantity"},
	    [AA_NOISE] = {.label = "noise floor", .align = TABLE_RIGHT},
	    [AA_UNITS] = {.label = between_units, .align = TABLE_RIGHT},
	    [AA_RUNS] = {.label = "between runs of one", .align = TABLE_RIGHT},
	};

	snprintf(between_units, sizeof(between_units), "between %ss", compare_unit_name[a->kind]);
	return table_of(columns, AA_COLUMNS, 0);
}

static void put_percent(struct table *t, size_t column, size_t row, double percent)
{
	if (isfinite(percent))
		table_text(t, column, row, "%.3g %%", percent);
	else
		table_text(t, column, row, "-");
}

static void aa_put_points(const struct compare_aa *a, FILE *out)
{
	struct table t = aa_empty_table(a);

	for (const struct aa_point *p = a->points; p < a->points + a->point_count; p++)
		for (size_t i = 0; i < p->quantity_count; i++) {
			const struct aa_quantity *q = &p->quantities[i];
			size_t row = table_row(&t);

			if (!i) {
				table_count(&t, AA_POINT, row, p->id);
				table_text(&t, AA_LABEL, row, "%s", p->label);
			}
			table_text(&t, AA_QUANTITY, row, "%s", compare_quantity_label(q->key));
			put_percent(&t, AA_NOISE, row, q->noise_percent);
			put_percent(&t, AA_UNITS, row, q->stdev_units_percent);
			put_percent(&t, AA_RUNS, row, q->stdev_runs_percent);
		}
	table_print(&t, &(struct table_style){.width = WIDTH}, out);
	table_free(&t);
}

void compare_aa_table(const struct compare_aa *a, FILE *out)
{
	fprintf(
	    out,
	    "%zu runs, %zu %ss, compared with themselves. Noise floor: 95 of 100 pairs of halves differ by less.\n\n",
	    a->runs, a->units, compare_unit_name[a->kind]);
	aa_put_points(a, out);
	fprintf(out, "\n%s: %s\n", a->verdict == OUTCOME_REGRESSION ? "drift" : compare_outcomes[a->verdict],
		a->answer);
}
