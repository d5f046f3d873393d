/*
 * The CPUs that one side of a flow may use. That side's own process finds them on its machine, and reports them to the
 * coordinator, which assigns CPUs (placement.h).
 */
#ifndef KBLAT_PLACEMENT_SURVEY_H
#define KBLAT_PLACEMENT_SURVEY_H

#include <jansson.h>

#include "measure/placement/cpu_choice.h"

struct err;

struct survey {
	struct cpu_choice choice;   /* what source_cpu or sink_cpu leaves */
	struct cpulist allowed;	    /* what this process may run on at all */
	uint16_t core[CPULIST_MAX]; /* the first CPU of the core that a CPU is on */
};

/*
 * Survey this machine. `setting` is "source_cpu" or "sink_cpu", `text` its value, `device` the point's device (NULL:
 * none). STATUS_IMPOSSIBLE if CPUs are named that this machine does not have, or on which this process may not run.
 */
int survey_take(const char *setting, const char *text, const char *device, struct survey *out, struct err *e);

/* {"cpus": "2-3", "told": true, "allowed": "0-3", "cores": ["0,2", "1,3"]}, and back: 0, or -EPROTO. */
json_t *survey_json(const struct survey *s);
int survey_from_json(const json_t *j, struct survey *out, struct err *e);

/* The cores of this machine, for CPUs of `of`: survey.core. */
void survey_cores(const struct cpulist *of, uint16_t core[CPULIST_MAX]);

#endif
