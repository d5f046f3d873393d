/*
 * Which CPU each thread of each flow runs on: dealt in one place, by the coordinator, from what the machines say
 * (survey.h). A busy-polling side has a CPU of its own, as far from the others' as its choice allows: not theirs, not on
 * their cores. Where source_cpu or sink_cpu is told, a side that sleeps is pinned, too. Where there are fewer CPUs than
 * sides that want one, sides share, and that is recorded. Pure.
 */
#ifndef KBLAT_PLACEMENT_PLACEMENT_H
#define KBLAT_PLACEMENT_PLACEMENT_H

#include <stdbool.h>

#include "placement/survey.h"

/* One side of a flow: what is asked, then what is dealt. */
struct placement {
	const struct survey *survey;
	const char *host; /* sides on different hosts have nothing to share */
	bool is_busy;	  /* it polls busily, so it wants a CPU of its own */
	bool wants_spare; /* a thread of it spins beside the others */
	int cpu;	  /* -1: unpinned */
	int spare_cpu;	  /* one that no side has; -1: there is none */
	bool shared_smt;  /* its core's other thread is the CPU of this flow's other side */
	bool shared_cpu;  /* source and sink of this flow have the same CPU */
};

/* `side`: source and sink of each flow in turn, `count` of them altogether. */
void placement_deal(struct placement *side, size_t count);

#endif
