/*
 * The phases of a period that stand out, in the form in which they are reported: similar ones in
 * one group, the groups farthest from the base first.
 */
#ifndef KBLAT_ANALYSIS_PATTERN_PHASES_H
#define KBLAT_ANALYSIS_PATTERN_PHASES_H

#include <jansson.h>

#include "analysis/period.h"

/* Phases are numbered from 0; `p50` is that of the original values, regardless of what previous
 * levels explain. */
struct pattern_group {
	int out; /* as in struct phase */
	int64_t p50;
	unsigned first, last; /* the lowest and the highest of them */
	unsigned count;
	unsigned *phase; /* [count], ascending */
};

struct pattern_phases {
	struct pattern_group *groups;
	size_t count;
	unsigned *held;
};

/* `original`: the sequences before anything was subtracted. Release with pattern_phases_free(). */
void pattern_phases_make(const struct period_level *level, const struct period_sequence *original, size_t count,
			 struct pattern_phases *out);
void pattern_phases_free(struct pattern_phases *p);

/* The group above the base with the largest median; NULL: there is none. */
const struct pattern_group *pattern_phases_slowest(const struct pattern_phases *p);

/* [{"phases": "15-16,31-32", "p50_ns": 4400}, …] of the groups above (1) or below (-1) the base: a
 * new reference. Phases are numbered from 1 here. */
json_t *pattern_phases_json(const struct pattern_phases *p, int out);

#endif
