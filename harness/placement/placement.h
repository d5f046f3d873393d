/*
 * Where an endpoint's threads run. A busy-polling thread has a CPU of its own: chosen from what source_cpu and sink_cpu
 * leave (cpu_choice.h) so that source and sink do not share a core. Where these are told, an endpoint that sleeps is
 * pinned, too. Both sides come to the same choice without speaking to each other.
 */
#ifndef KBLAT_PLACEMENT_H
#define KBLAT_PLACEMENT_H

#include <jansson.h>
#include <stdbool.h>

#include "common/cpulist.h"
#include "placement/cpu_choice.h"
#include "point/settings.h"

struct placement {
	int cpu;	 /* -1: unpinned */
	int spare_cpu;	 /* one that neither side uses; -1: there is none */
	int numa_node;	 /* -1: unknown */
	bool shared_smt; /* its core's other thread is the peer's CPU */
	bool shared_cpu; /* source and sink have the same CPU */
};

/* The CPUs of both sides by role (-1: unpinned), each out of its own choice. */
void placement_pair(const struct cpu_choice choice[2], const struct common_settings *s, const json_t *params,
		    int cpu[2]);

/* For one point. STATUS_IMPOSSIBLE if CPUs are told that this machine does not have or this process may not run on. */
int placement_choose(enum role role, const struct common_settings *s, const json_t *params, struct placement *out,
		     struct err *e);
json_t *placement_json(const struct placement *p);

#endif
