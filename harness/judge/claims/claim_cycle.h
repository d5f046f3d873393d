/*
 * What claims say about a period: "pattern.high_first(32)" is the first of the slowest phases of period 32, whether
 * that is the strongest period or is nested in another one, "pattern.strength(turn_ns, 2)" the strength of period 2 of
 * the series turn_ns, "pattern.base_ns(turn_ns)" a number of the pattern of that series. Pure.
 *
 * Without such a period, `period` and `strength` are 0, so that a claim about them fails, and other numbers are none.
 * `next_...` are of the phases that are the slowest but for those of `high_...`.
 */
#ifndef KBLAT_CLAIMS_CLAIM_CYCLE_H
#define KBLAT_CLAIMS_CLAIM_CYCLE_H

#include <jansson.h>
#include <stdbool.h>

#include "judge/analysis/blocks.h"
#include "judge/analysis/summary.h"

enum claim_cycle_key {
	CYCLE_PERIOD,
	CYCLE_STRENGTH,
	CYCLE_BASE_NS,
	CYCLE_HIGH_NS,
	CYCLE_HIGH_FIRST,
	CYCLE_HIGH_LAST,
	CYCLE_NEXT_NS,
	CYCLE_NEXT_FIRST,
	CYCLE_NEXT_LAST,
	CYCLE_KEYS,
};

struct claim_cycle {
	enum claim_cycle_key key;
	char series[64];   /* "": the first one, of which a pattern is known */
	json_int_t period; /* 0: the strongest one */
};

/* Is this the name of such a number, "high_first(32)"? If so, and it makes no sense, `wrong` says why; otherwise it is
 * NULL. */
bool claim_cycle_parse(const char *statistic, struct claim_cycle *out, const char **wrong);

/* The statistic of the block `pattern` that has the same unit. */
const struct block_statistic *claim_cycle_like(const struct claim_cycle *c);

/* Of a flow ("" if points have none). Absent if the flow's pattern, or that of the series, is not known. */
struct number claim_cycle_number(const struct summary_results *r, const char *flow, const struct claim_cycle *c);

#endif
