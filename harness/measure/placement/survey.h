/*
 * The CPUs that one side of a flow may use. That side's own process finds them on its machine, and reports them to the
 * coordinator, which assigns CPUs (placement.h).
 */
#ifndef KBLAT_PLACEMENT_SURVEY_H
#define KBLAT_PLACEMENT_SURVEY_H

#include <jansson.h>
#include <stdbool.h>

#include "common/cpulist.h"

struct err;
struct sysroot;

/*
 * The values of source_cpu and similar settings, resolved to CPUs of this machine:
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

struct survey {
	struct cpu_choice choice;   /* what source_cpu or sink_cpu leaves */
	struct cpulist allowed;	    /* what this process may run on at all */
	struct cpulist slow;	    /* of these, the CPUs of a slower kind than others of this machine */
	uint16_t core[CPULIST_MAX]; /* the first CPU of the core that a CPU is on */
};

/*
 * Survey this machine. `setting` is "source_cpu" or "sink_cpu", `text` its value, `device` the point's device (NULL:
 * none). STATUS_IMPOSSIBLE if CPUs are named that this machine does not have, or on which this process may not run.
 */
int survey_take(const char *setting, const char *text, const char *device, struct survey *out, struct err *e);

/* {"cpus": "2-3", "told": true, "allowed": "0-3", "cores": ["0,2", "1,3"]}, perhaps with "slow", and back: 0, or -EPROTO. */
json_t *survey_json(const struct survey *s);
int survey_from_json(const json_t *j, struct survey *out, struct err *e);

/* What this machine has among the CPUs of `s->allowed`: `slow` and `core`. */
void survey_machine(struct survey *s);

#endif
