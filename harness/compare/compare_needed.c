#include "compare/compare_needed.h"

#include <math.h>

#include "compare/compare_boots.h"

/* Approximately the part of the worse side's alpha that max-T leaves to the medians of all points. */
#define MEDIAN_LEVEL 0.8

static json_t *percent_or_null(double share)
{
	return isfinite(share) ? json_real(100 * share) : json_null();
}

size_t compare_units_least(const struct compare_runs *runs)
{
	return runs->pairs ? COMPARE_PAIRS : COMPARE_UNITS;
}

/* The standard deviation between units. If no arm has two units, only the part caused by variation
 * between runs is known, which is smaller. */
static double stdev_of(const struct compare_join *j, const struct compare_values *v)
{
	double runs = (double)j->runs->count / (double)(j->runs->units[ARM_BASE] + j->runs->units[ARM_WITH]);

	return isnan(v->stdev_units) ? v->stdev_runs / sqrt(runs) : v->stdev_units;
}

json_t *compare_needed(const struct compare_join *j, const struct compare_rule *rule)
{
	double side = rule->question == PERM_DIFFERS ? 0.5 : 1 - PERM_BETTER_SHARE;
	double level = MEDIAN_LEVEL * rule->alpha * side / (double)(j->count ? j->count : 1);
	json_t *needed = json_null();
	size_t most = 0;

	for (size_t i = 0; i < j->count; i++) {
		/* For a series, the median. */
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
				   "point", j->point[i].id, "stdev_units_percent", percent_or_null(v->stdev_units),
				   "stdev_runs_percent", percent_or_null(v->stdev_runs));
	}
	return needed;
}
