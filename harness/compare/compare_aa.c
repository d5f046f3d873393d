#include "compare/compare_aa.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/text_table.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/random.h"
#include "compare/compare_judge.h"
#include "compare/compare_needed.h"
#include "compare/compare_perm.h"

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

struct counts {
	size_t splits, verdict[COMPARE_VERDICTS];
};

/* Judge the splits. The verdict on a split is the worst of those on its quantities. */
static int judge_splits(const struct compare_join *j, const struct compare_rule *rule, size_t splits, struct counts *c,
			size_t *ordered)
{
	size_t units = j->runs->units[ARM_BASE], *order = calloc(units + 1, sizeof(*order));
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
		size_t verdict = COMPARE_UNDECIDED;

		fill_halves(&copy, j, order);
		rc = compare_verdict(&copy, rule, &plan, &verdict);
		if (i)
			c->verdict[verdict]++;
		else
			*ordered = verdict;
		random_shuffle(order, units, &state);
	}
	c->splits = splits;
	if (order)
		perm_plan_free(&plan);
	free(order);
	copy_free(&copy);
	return rc;
}

/* --- the result --- */

static json_t *aa_number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

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

static json_t *quantity_json(const struct compare_join *j, const struct compare_values *v,
			     const struct compare_rule *rule)
{
	double noise = compare_amount(v, noise_of_halves(v, j->runs->units[ARM_BASE], rule->seed));
	double percent = 100 / fabs(v->level[ARM_BASE]), scale = v->logarithms ? 100 : percent;

	return json_pack("{s:s, s:f, s:o, s:o, s:o, s:o}", "quantity", v->of.key, "level", v->level[ARM_BASE], "noise",
			 aa_number(noise), "noise_percent", aa_number(noise * percent), "stdev_units_percent",
			 aa_number(v->stdev_units * scale), "stdev_runs_percent", aa_number(v->stdev_runs * scale));
}

static void aa_add_points(const struct compare_join *j, const struct compare_rule *rule, json_t *points)
{
	for (size_t i = 0; i < j->count; i++) {
		const struct compare_point *p = &j->point[i];
		char *label = compare_label(j, p);
		json_t *quantities = json_array();

		for (size_t q = 0; q < p->quantity_count; q++)
			if (p->quantity[q].value)
				json_array_append_new(quantities, quantity_json(j, &p->quantity[q], rule));
		json_array_append_new(points, json_pack("{s:I, s:s, s:s, s:o}", "id", p->id, "label", label, "metric",
							p->metric ? p->metric : "", "quantities", quantities));
		free(label);
	}
}

/* The upper end of a one-sided 95 % interval for a share (Wilson 1927). */
static double upper_95(size_t k, size_t n)
{
	double z = 1.645, share = (double)k / (double)n, m = (double)n;

	return (share + z * z / (2 * m) + z * sqrt(share * (1 - share) / m + z * z / (4 * m * m))) / (1 + z * z / m);
}

static json_t *aa_head_json(const struct compare_join *j, const struct compare_rule *rule)
{
	return json_pack("{s:i, s:s, s:s, s:I, s:I, s:f, s:f, s:I, s:o, s:[]}", "schema", 1, "verdict", "undecided",
			 "unit", compare_unit_name[j->runs->kind], "units", (json_int_t)j->runs->units[ARM_BASE],
			 "runs", (json_int_t)j->runs->count, "alpha", rule->alpha, "effect_percent", 100 * rule->effect,
			 "seed", (json_int_t)rule->seed, "needed", compare_needed(j, rule), "points");
}

static void aa_add_answer(json_t *result, const struct counts *c, size_t ordered)
{
	size_t alarms = c->verdict[COMPARE_REGRESSION] + c->verdict[COMPARE_IMPROVEMENT];
	bool drifts = ordered == COMPARE_REGRESSION || ordered == COMPARE_IMPROVEMENT;
	json_t *counts = json_object();

	for (size_t v = 0; v < COMPARE_VERDICTS; v++)
		json_object_set_new(counts, compare_verdicts[v], json_integer((json_int_t)c->verdict[v]));
	json_object_set_new(result, "splits", json_integer((json_int_t)c->splits));
	json_object_set_new(result, "counts", counts);
	json_object_set_new(result, "false_alarms", json_real((double)alarms / (double)c->splits));
	json_object_set_new(result, "false_alarms_upper_95", json_real(upper_95(alarms, c->splits)));
	json_object_set_new(result, "earlier_later", json_string(compare_verdicts[ordered]));
	/* Kernels should not be compared on a machine that drifts. */
	json_object_set_new(result, "verdict", json_string(drifts ? "regression" : "no regression"));
	json_object_set_new(
	    result, "answer",
	    json_sprintf("%zu of %zu splits give a false alarm (%.1f %%; with 95 %% confidence, at most %.1f "
			 "%%); the later half compared with the earlier: %s%s",
			 alarms, c->splits, 100. * (double)alarms / (double)c->splits,
			 100 * upper_95(alarms, c->splits), compare_verdicts[ordered],
			 drifts ? ": this machine drifts" : ""));
}

json_t *compare_aa(const struct compare_join *j, const struct compare_rule *rule, size_t splits, struct err *e)
{
	size_t units = j->runs->units[ARM_BASE], ordered = COMPARE_UNDECIDED;
	json_t *result = aa_head_json(j, rule);
	struct counts c = {0};
	int rc = 0;

	aa_add_points(j, rule, json_object_get(result, "points"));
	if (units < 2 * COMPARE_UNITS) {
		json_object_set_new(result, "answer",
				    json_sprintf("%zu %s%s, and splitting needs at least %d", units,
						 compare_unit_name[j->runs->kind], units == 1 ? "" : "s",
						 2 * COMPARE_UNITS));
		return result;
	}
	rc = judge_splits(j, rule, splits, &c, &ordered);
	if (rc) {
		err_sys(e, rc, NULL, "compare");
		json_decref(result);
		return NULL;
	}
	aa_add_answer(result, &c, ordered);
	return result;
}

/* --- for people --- */

static void put_percent(struct text_table *t, size_t column, size_t row, const json_t *q, const char *key)
{
	const json_t *number = json_object_get(q, key);

	if (json_is_number(number))
		text_table_set(t, column, row, "%.3g %%", json_number_value(number));
	else
		text_table_set(t, column, row, "-");
}

void compare_aa_table(const json_t *result, FILE *out)
{
	char between[32];
	const struct {
		const char *key, *title;
	} columns[] = {{"noise_percent", "noise floor"},
		       {"stdev_units_percent", between},
		       {"stdev_runs_percent", "between runs of one"}};
	const json_t *points = json_object_get(result, "points"), *point, *q;
	size_t rows = 0, row = 0, i, k, id, label, quantity, column[3];
	struct text_table t;

	snprintf(between, sizeof(between), "between %ss", json_text(result, "unit"));
	json_array_foreach (points, i, point)
		rows += json_array_size(json_object_get(point, "quantities"));
	text_table_init(&t, rows);
	id = text_table_add(&t, "point", ALIGN_RIGHT, 0);
	label = text_table_add(&t, "", ALIGN_LEFT, 1);
	quantity = text_table_add(&t, "quantity", ALIGN_LEFT, 0);
	for (size_t c = 0; c < 3; c++)
		column[c] = text_table_add(&t, columns[c].title, ALIGN_RIGHT, 0);
	json_array_foreach (points, i, point) {
		json_array_foreach (json_object_get(point, "quantities"), k, q) {
			if (!k) {
				text_table_set(&t, id, row, "%" JSON_INTEGER_FORMAT,
					       json_integer_value(json_object_get(point, "id")));
				text_table_set(&t, label, row, "%s", json_text(point, "label"));
			}
			text_table_set(&t, quantity, row, "%s", compare_quantity_label(json_text(q, "quantity")));
			for (size_t c = 0; c < 3; c++)
				put_percent(&t, column[c], row, q, columns[c].key);
			row++;
		}
	}
	fprintf(out,
		"%" JSON_INTEGER_FORMAT " runs, %" JSON_INTEGER_FORMAT
		" %ss, compared with themselves. Noise floor: 95 of 100 pairs of halves differ by less.\n\n",
		json_integer_value(json_object_get(result, "runs")),
		json_integer_value(json_object_get(result, "units")), json_text(result, "unit"));
	text_table_print(&t, WIDTH, out);
	text_table_free(&t);
	fprintf(out, "\n%s: %s\n",
		!strcmp(json_text(result, "verdict"), "regression") ? "drift" : json_text(result, "verdict"),
		json_text(result, "answer"));
}
