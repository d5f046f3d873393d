#include "compare/compare_shift.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "compare/compare_judge.h"
#include "compare/compare_perm.h"
#include "compare/compare_time.h"

const double shift_quantile[SHIFT_QUANTILES] = {0.01, 0.05, 0.1,  0.2,	0.3,  0.4,   0.5,   0.6,  0.7,
						0.8,  0.9,  0.95, 0.98, 0.99, 0.995, 0.998, 0.999};

/* Means of the logarithms over each unit's runs; runs without the quantile do not count. */
static void fill_units(const struct compare_runs *runs, const double (*value)[SHIFT_QUANTILES], size_t q, double *units,
		       double *counts)
{
	size_t all = runs->units[ARM_BASE] + runs->units[ARM_WITH];

	for (size_t u = 0; u < all; u++)
		units[u] = counts[u] = 0;
	for (size_t i = 0; i < runs->count; i++) {
		if (!(value[i][q] > 0))
			continue;
		units[runs->run[i].unit] += log(value[i][q]);
		counts[runs->run[i].unit]++;
	}
	for (size_t u = 0; u < all; u++)
		units[u] = counts[u] > 0 ? units[u] / counts[u] : NAN;
}

int compare_shift(const struct compare_runs *runs, const double (*value)[SHIFT_QUANTILES], uint64_t seed, double alpha,
		  struct shift *out)
{
	size_t all = runs->units[ARM_BASE] + runs->units[ARM_WITH];
	struct perm_quantity perm[SHIFT_QUANTILES];
	double *units = calloc(SHIFT_QUANTILES + 1, all * sizeof(*units));
	struct perm_plan plan;
	int rc = units
		     ? perm_plan_make(&plan, runs->units[ARM_BASE], runs->units[ARM_WITH], runs->pairs, PERM_MAX, seed)
		     : -ENOMEM;

	if (rc)
		goto out;
	for (size_t q = 0; q < SHIFT_QUANTILES; q++) {
		fill_units(runs, value, q, units + q * all, units + SHIFT_QUANTILES * all);
		perm[q] = (struct perm_quantity){.value = units + q * all, .weight = 1};
	}
	rc = compare_drift(runs, &plan) ?: perm_judge(&plan, perm, SHIFT_QUANTILES, alpha, PERM_IS_WORSE);
	for (size_t q = 0; q < SHIFT_QUANTILES; q++) {
		out->known[q] = perm[q].known;
		out->effect[q] = 100 * expm1(perm[q].effect);
		out->low[q] = isinf(perm[q].low) ? -INFINITY : 100 * expm1(perm[q].low);
		out->high[q] = 100 * expm1(perm[q].high);
	}
	perm_plan_free(&plan);
out:
	free(units);
	return rc;
}
