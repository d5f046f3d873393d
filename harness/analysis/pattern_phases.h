/*
 * The phases of a period that stand out, as they are said: those that are about alike together, the
 * farthest from the base first.
 */
#ifndef KBLAT_ANALYSIS_PATTERN_PHASES_H
#define KBLAT_ANALYSIS_PATTERN_PHASES_H

#include <jansson.h>

#include "analysis/period.h"

/* Phases from 0 on; `p50` is of the values themselves, whatever the levels before explain of them. */
struct pattern_group {
	int out; /* as in struct phase */
	int64_t p50;
	unsigned first, last; /* the least and the largest of them */
	unsigned count;
	unsigned *phase; /* [count], rising */
};

struct pattern_phases {
	struct pattern_group *groups;
	size_t count;
	unsigned *held;
};

/* `original`: the sequences before anything was taken out. Release with pattern_phases_free(). */
void pattern_phases_make(const struct period_level *level, const struct period_sequence *original, size_t count,
			 struct pattern_phases *out);
void pattern_phases_free(struct pattern_phases *p);

/* Of the groups above the base the one with the largest median; NULL: there is none. */
const struct pattern_group *pattern_phases_slowest(const struct pattern_phases *p);

/* [{"phases": "15-16,31-32", "p50_ns": 4400}, …] of those above (1) or below (-1): a new reference. Phases count from
 * 1 here. */
json_t *pattern_phases_json(const struct pattern_phases *p, int out);

#endif
