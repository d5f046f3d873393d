#include "compare/compare_looks.h"

#include "compare/compare_plan.h"

/* Position in the plan, and part of alpha. */
static const struct {
	double at, share;
} early[LOOKS_MOST - 1] = {{0.5, 0.3}, {0.75, 0.1}};

/* The first look must be able to detect something: with few units there are few relabellings. */
static size_t units_at(double at, size_t planned, size_t least, bool pairs, double level)
{
	size_t units = (size_t)(at * (double)planned + 0.999);

	units = units < least ? least : units;
	while (units < planned && perm_least_p(units, units, pairs) > level)
		units++;
	return units;
}

size_t compare_looks(size_t planned, size_t least, bool pairs, double alpha, struct look looks[LOOKS_MOST])
{
	size_t count = 0, last = 0;
	double left = alpha;

	for (size_t i = 0; i < LOOKS_MOST - 1; i++) {
		struct look one = {units_at(early[i].at, planned, least, pairs, early[i].share * alpha),
				   early[i].share * alpha};

		if (one.units <= last || one.units >= planned)
			continue;
		looks[count++] = one;
		last = one.units;
		left -= one.level;
	}
	looks[count++] = (struct look){planned, left};
	return count;
}
