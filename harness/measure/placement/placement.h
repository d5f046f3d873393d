/*
 * Chooses the CPU for each thread of each flow. The coordinator does this, from what the machines report (survey.h). A
 * side that polls busily gets its own CPU, if possible on a core that no other side uses, and of the machine's fast
 * kind. A side that sleeps is pinned only if source_cpu or sink_cpu is set. If there are fewer CPUs than sides that
 * need one, sides share CPUs, which is recorded. Pure.
 */
#ifndef KBLAT_PLACEMENT_PLACEMENT_H
#define KBLAT_PLACEMENT_PLACEMENT_H

#include <stdbool.h>

#include "measure/placement/survey.h"

/* One side of a flow: its requirements, then the CPUs assigned to it. */
struct placement {
	const struct survey *survey;
	const char *host; /* sides on different hosts have nothing to share */
	bool is_busy;	  /* it polls busily, so it wants a CPU of its own */
	bool wants_spare; /* it has an additional thread that spins */
	int cpu;	  /* -1: unpinned */
	int spare_cpu;	  /* one that no side has; -1: there is none */
	bool shared_smt;  /* its core's other thread is the CPU of this flow's other side */
	bool shared_cpu;  /* source and sink of this flow have the same CPU */
	bool is_slow;	  /* its CPU is of a slower kind than others of the machine */
};

/* `side`: source and sink of each flow in turn, `count` of them altogether. */
void placement_deal(struct placement *side, size_t count);

#endif
