/*
 * Decides whether a number is valid: rules about what was counted, one row each
 * (harness/judge/analysis/validity.c). Pure.
 *
 * A rule that *invalidates* gives a reason: page faults, recorder overflow or bad completions
 * inside a measured interval; a tick counter that failed its checks; endpoints without a common
 * clock if a series needs one, or with one whose error is larger than what is measured; loss on a
 * reliable transport; duplicates; traffic that did not go through the device under test, or whose lane
 * is not the expected one, or that the kernel carried where a bypass is expected; a control group whose CPU quota was used
 * up. A rule that *warns*: others that ran on the same CPUs; a control group that reached a limit of memory; no
 * invariant TSC but a good fit; migration or an involuntary context switch of a busy-polling thread; frequency scaling;
 * a shared SMT sibling; no locked memory; loss on an unreliable transport; page faults if `touch: no` makes them the
 * subject.
 */
#ifndef KBLAT_ANALYSIS_VALIDITY_H
#define KBLAT_ANALYSIS_VALIDITY_H

#include <jansson.h>
#include <stdbool.h>

#include "files/rundir/layout.h"

/* The warning of a point that was measured over the tests' model of an adapter. */
#define VALIDITY_MODEL "MODEL: the device is a model of an adapter, and these times are those of its script"

struct validity {
	json_t *reasons;  /* array of strings; empty: valid */
	json_t *warnings; /* array of strings */
};

/* What is judged: a flow of a point. All pointers may be NULL; what depends on them is
 * then unknown, which is itself a reason or a warning. */
struct validity_facts {
	struct layout_traits traits;
	bool counts_loss;	    /* of the flow: layout_flow */
	const json_t *counters;	    /* array of every repetition's counters.json */
	const json_t *clock;	    /* run.json's "clock" */
	const json_t *far_clock[2]; /* likewise for the source's and the sink's host, if that is another one */
	const json_t *between;	    /* point.json's "clock", with two hosts; NULL: nothing is known */
	bool crosses;		    /* a series subtracts stamps of both sides' clocks */
	const char *crossing;	    /* of these series, the one with the smallest median: "t_lat"; NULL: not known */
	json_int_t crossing_p50_ns; /* this median */
	const json_t *placement;    /* point.json's "placement", of the flow */
	const json_t *granted;	    /* point.json's "granted", of the flow */
	/* state.json's "keys" of the source's and of the sink's host, before the run */
	const json_t *state[2];
	/* over all repetitions, from the columns; duplicates are a counter */
	json_int_t lost;
};

/* Words of the warning that others ran where this measured. Of several flows, a text begins with the flow's name. */
#define VALIDITY_OTHERS "its threads could have run, and waited for a CPU that others had, "
bool validity_is_of_others(const char *warning);

/*
 * Fills both arrays (new references). If a rule applies to several repetitions, there is one text
 * with their number: "7 page faults inside the measured interval (source, 2 of 5 repetitions)".
 */
void validity_judge(const struct validity_facts *facts, struct validity *out);

#endif
