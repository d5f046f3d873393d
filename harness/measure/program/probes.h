/*
 * Probes (uprobes) at the functions of an unmodified program, at which its requests begin and end. They cost the program
 * some microseconds each time.
 */
#ifndef KBLAT_PROGRAM_PROBES_H
#define KBLAT_PROGRAM_PROBES_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/program/binary.h"
#include "measure/program/probed_file.h"
#include "measure/trace/trace_place.h"

struct clock_conversion;
struct err;
struct request_stamp;
struct trace_probe_hit;

enum probe_end { PROBE_FROM, PROBE_TO, PROBE_ENDS };

extern const char *const probe_events[PROBE_ENDS]; /* their names as events */

/* BINARY:FUNCTION, BINARY:0xADDRESS, both also with %return; or BINARY:PROVIDER:NAME. */
struct probe_place {
	struct probed_file file;
	char *name; /* of the function, without %return */
	struct binary_sites sites;
	bool at_return, is_usdt;
};

struct probes {
	char system[TRACE_INSTANCE_NAME]; /* of the events; "": there are none */
};

/* Find a place, of what these threads run or else of what a shell finds. STATUS_USAGE if there is no such binary or
 * function, or more than one of its name. */
int probe_place_find(const char *text, const pid_t *tasks, size_t count, struct probe_place *out, struct err *e);
void probe_place_free(struct probe_place *p);

/* `id`: the register, or the number of the argument, that tells requests apart; NULL: nothing does. Not enabled yet. */
int probes_add(const struct probe_place places[PROBE_ENDS], const char *id, struct probes *out, struct err *e);

/* Are they where one function begins and where it ends, so that its frame tells which end is of which beginning? */
bool probes_share_frames(const struct probe_place places[PROBE_ENDS]);

/* What a hit says of a request. False: nothing, as the program only passed there. */
bool probe_hit_read(const struct probe_place *place, const struct trace_probe_hit *hit, struct request_stamp *out);

/* After all instances that enabled them are gone. */
void probes_remove(const struct probes *p);

/* How long the two probes of a request take together, each of the same kind as in `places`, in ns; 0: not known. Measured
 * at a function of kblat itself, before the program pays for it; takes some milliseconds. Must come before probes_add(),
 * as it uses the same names. */
int64_t probe_cost_ns(const struct probe_place places[PROBE_ENDS], const struct clock_conversion *c);

#endif
