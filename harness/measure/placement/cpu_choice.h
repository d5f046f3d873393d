/*
 * Resolves the values of source_cpu and similar settings to CPUs of this machine.
 *
 *   auto         all that this process may run on
 *   3, 2-5,8     these
 *   near:DEVICE  those on the NUMA node of an RDMA device or a network interface; a device in software is where the
 *                interface below it is
 *   near         likewise, of the point's own device
 *   cpuset:NAME  those of a cpuset, version 1 or 2, by its path below the hierarchy's root
 *
 * The result contains only CPUs on which this process may run. Nothing on the machine is changed.
 */
#ifndef KBLAT_CPU_CHOICE_H
#define KBLAT_CPU_CHOICE_H

#include <stdbool.h>

#include "common/cpulist.h"

struct err;
struct sysroot;

struct cpu_choice {
	struct cpulist cpus; /* never empty */
	bool is_told;	     /* or it was auto */
};

/*
 * `name` is the setting's name, for messages; `device` is the point's device (NULL or "auto": none is named).
 * STATUS_IMPOSSIBLE if this machine does not have what is named, or this process may not run there; STATUS_USAGE if it
 * is not clear which device is meant.
 */
int cpu_choice_read(const struct sysroot *root, const char *name, const char *text, const char *device,
		    const struct cpulist *allowed, struct cpu_choice *out, struct err *e);

/* Keep only CPUs that are also in `to`. */
void cpu_choice_narrow(struct cpu_choice *c, const struct cpulist *to);

#endif
