/*
 * How far the clocks of two hosts are apart, by messages to and fro (`there`, `back`) that both hosts stamp. Pure.
 *
 * A message took no negative time, neither there nor back: so the far clock was ahead by at most `received - sent` and at least `answered -
 * returned`. Half the distance of the two, the round trip without the far side's turn, is the error of their middle; it is a bound, whatever the
 * queues on the way did. Of many round trips the shortest says most (minimum-delay filter, as NTP's).
 *
 * Between two comparisons the offset is taken to move in a straight line. What makes that wrong is a change of a clock's rate meanwhile; the bound
 * allows for CLOCK_PAIR_WANDER_PPB, ten times what a quartz does in minutes indoors.
 */
#ifndef KBLAT_INSTRUMENT_CLOCK_PAIR_H
#define KBLAT_INSTRUMENT_CLOCK_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLOCK_PAIR_WANDER_PPB 100
#define CLOCK_PAIR_MOST_PPM   500 /* no clock is wrong by more, so what moves faster was set */

/* Times belong to a run: values further away (a hundred days) are not valid stamps, and could overflow. */
#define CLOCK_PAIR_FURTHEST_NS (1LL << 53)
bool clock_pair_is_time(int64_t ns);

/* A round trip: two stamps of the near clock, two of the far one between them, in nanoseconds of each. */
struct clock_exchange {
	int64_t sent, received, answered, returned;
};

/* One comparison: at this time of the near clock the far one was ahead by offset_ns, give or take error_ns. */
struct clock_comparison {
	int64_t at_ns, offset_ns, error_ns;
};

/* The result of several comparisons. */
struct clock_line {
	int64_t at_ns, offset_ns; /* of the line, at the first comparison */
	double drift_ppb;	  /* how much faster the far clock is */
	/* bound for the result of clock_pair_offset(), anywhere between the first and the last */
	int64_t error_ns;
	int64_t residual_ns; /* the largest distance of a comparison from the line */
	bool has_stepped;    /* no two steady clocks can have given these comparisons */
};

/* The best of some exchanges; those with a stamp that never happened (NEVER) or cannot be, or whose stamps contradict each other, are left out. False: there is none. */
bool clock_pair_compare(const struct clock_exchange *exchanges, size_t count, struct clock_comparison *out);

/* The line through comparisons in chronological order (at least one; with only one, the drift is
 * assumed to be 0). */
struct clock_line clock_pair_fit(const struct clock_comparison *comparisons, size_t count);

/* By how much the far clock was ahead, at a time of the *far* clock: on the line through the comparisons around it; beyond the first and the last, on
 * that through the two next to it. */
int64_t clock_pair_offset(const struct clock_comparison *comparisons, size_t count, int64_t far_ns);

#endif
