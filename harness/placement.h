/*
 * Where an endpoint's threads run. A busy-polling thread has a CPU of its own: told by source_cpu and sink_cpu, or
 * chosen from the process' mask so that source and sink do not share a core. Both sides come to the same choice without
 * speaking to each other.
 */
#ifndef KBLAT_PLACEMENT_H
#define KBLAT_PLACEMENT_H

#include <jansson.h>
#include <stdbool.h>

#include "common/cpulist.h"
#include "settings.h"

struct placement {
	int cpu;	 /* -1: unpinned */
	int spare_cpu;	 /* one that neither side uses; -1: there is none */
	int numa_node;	 /* -1: unknown */
	bool shared_smt; /* its core's other thread is the peer's CPU */
	bool shared_cpu; /* source and sink have the same CPU */
};

/* The CPUs of both sides by role (-1: unpinned), each out of its own set. */
void placement_pair(const struct cpulist allowed[2], const struct common_settings *s, bool duplex, int cpu[2]);

/* STATUS_IMPOSSIBLE if this side is told a CPU that this process may not run on. */
int placement_choose(enum role role, const struct common_settings *s, bool duplex, struct placement *out,
		     struct err *e);
json_t *placement_json(const struct placement *p);

#endif
