#include "compare/compare_entry.h"

#include <math.h>
#include <string.h>

#include "compare/compare_boots.h"
#include "compare/compare_judge.h"

#define NOISE_TAIL 0.025 /* on each side: 5 % of comparisons without a change exceed the noise */

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

/* The smallest difference between two values. */
static double resolution_of(const struct compare_values *v, const struct compare_runs *runs)
{
	return v->of.measure == MEASURE_SHARE	 ? 1 / v->messages
	       : v->of.measure == MEASURE_SERIES ? resolution_ns(runs)
						 : 0;
}

static double asked_margin(const struct compare_rule *rule, const char *key)
{
	for (size_t i = 0; i < rule->margin_count; i++)
		if (!strcmp(rule->margins[i].key, key))
			return rule->margins[i].margin;
	return rule->margin;
}

struct compare_entry compare_entry_make(const struct compare_join *j, const struct compare_point *p,
					const struct compare_values *v, const struct compare_rule *rule)
{
	double asked = asked_margin(rule, v->of.key) * fabs(v->level[ARM_BASE]), steps = 2 * resolution_of(v, j->runs);

	return (struct compare_entry){
	    .point = p,
	    .values = v,
	    .margin = fmax(asked, steps),
	    .margin_from = steps > asked ? "clock" : "least",
	};
}

/* --- noise: which changes can be detected, as opposed to which are harmless --- */

double compare_entry_noise(const struct compare_entry *t)
{
	const struct perm_quantity *q = t->perm;

	if (q->error == 0)
		return 0;
	return q->df < 2 ? INFINITY : compare_amount(t->values, boots_student(NOISE_TAIL, q->df) * q->error);
}

bool compare_entry_is_noisy(const struct compare_entry *t)
{
	return !(compare_entry_noise(t) <= t->margin);
}

double compare_entry_detectable(const struct compare_entry *t)
{
	const struct perm_quantity *q = t->perm;

	if (q->error == 0)
		return 0;
	if (q->df < 2 || q->level <= 0)
		return INFINITY;
	return compare_amount(t->values,
			      (boots_student(q->level, q->df) + boots_student(1 - COMPARE_POWER, q->df)) * q->error);
}

/* --- the verdict --- */

static bool is_within(const struct compare_entry *t, double low, double high)
{
	return compare_amount(t->values, low) > -t->margin && compare_amount(t->values, high) < t->margin;
}

/*
 * Alarms take all quantities into account together. Equivalence of a quantity is tested separately,
 * by two one-sided tests (Schuirmann 1987). Stating it for all quantities needs no correction for
 * their number, because each of them must pass.
 */
int compare_entry_verdict(const struct compare_entry *t)
{
	bool better = t->values->of.less_is_worse, noisy = compare_entry_is_noisy(t);
	const struct perm_quantity *q = t->perm;

	if (!noisy && is_within(t, q->low, q->high))
		return COMPARE_EQUIVALENT;
	if (q->low > 0)
		return better ? COMPARE_IMPROVEMENT : COMPARE_REGRESSION;
	if (q->high < 0)
		return better ? COMPARE_REGRESSION : COMPARE_IMPROVEMENT;
	return !noisy && is_within(t, q->low_alone, q->high_alone) ? COMPARE_EQUIVALENT : COMPARE_UNDECIDED;
}

/* Is a change for the worse that is larger than the margin still possible? */
static bool may_be_worse(const struct compare_entry *t)
{
	if (compare_entry_is_noisy(t) && compare_entry_verdict(t) != COMPARE_IMPROVEMENT)
		return true;
	if (t->values->of.less_is_worse)
		return !(compare_amount(t->values, t->perm->low_alone) > -t->margin);
	return !(compare_amount(t->values, t->perm->high_alone) < t->margin);
}

/* --- as JSON --- */

static json_t *number_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static void set_number(json_t *row, const char *key, double value)
{
	json_object_set_new(row, key, number_or_null(value));
}

/* An end of an interval, as an amount and in per cent. */
static void set_end(json_t *row, const char *key, const struct compare_values *v, double end)
{
	char name[32];

	set_number(row, key, isfinite(end) ? compare_amount(v, end) : end);
	snprintf(name, sizeof(name), "%s_percent", key);
	set_number(row, name, isfinite(end) ? 100 * compare_share(v, end) : end);
}

/* An amount in the quantity's own unit, and as a share of BASE in per cent. */
static void set_amount(json_t *row, const char *key, const struct compare_values *v, double amount)
{
	char name[32];

	set_number(row, key, amount);
	snprintf(name, sizeof(name), "%s_percent", key);
	set_number(row, name, 100 * amount / fabs(v->level[ARM_BASE]));
}

json_t *compare_entry_json(const struct compare_entry *t)
{
	const struct compare_values *v = t->values;
	const struct perm_quantity *q = t->perm;
	json_t *row = json_pack("{s:s, s:s, s:b, s:b, s:s}", "quantity", v->of.key, "verdict",
				compare_verdicts[compare_entry_verdict(t)], "may_be_worse", may_be_worse(t), "noisy",
				compare_entry_is_noisy(t), "unit", compare_quantity_unit(&v->of, t->point->metric));

	set_number(row, "base", v->level[ARM_BASE]);
	set_number(row, "with", v->level[ARM_WITH]);
	set_end(row, "effect", v, q->effect);
	set_end(row, "low", v, q->low);
	set_end(row, "high", v, q->high);
	set_end(row, "low_alone", v, q->low_alone);
	set_end(row, "high_alone", v, q->high_alone);
	set_number(row, "p", q->p);
	set_number(row, "p_alone", q->p_alone);
	set_amount(row, "margin", v, t->margin);
	json_object_set_new(row, "margin_from", json_string(t->margin_from));
	set_amount(row, "noise", v, compare_entry_noise(t));
	set_amount(row, "detectable", v, compare_entry_detectable(t));
	return row;
}
