/*
 * What a probe costs on this machine: measured at a function of kblat itself, before the program pays for it.
 */
#ifndef KBLAT_PROGRAM_PROBE_COST_H
#define KBLAT_PROGRAM_PROBE_COST_H

#include <stdint.h>

#include "measure/program/probes.h"

struct clock_conversion;

/* How long the two probes of a request take together, each of the same kind as in `places`, in ns; 0: not known. Takes
 * some milliseconds; must come before probes_add(), as it uses the same names. */
int64_t probe_cost_ns(const struct probe_place places[PROBE_ENDS], const struct clock_conversion *c);

#endif
