/*
 * The documents that describe a run: run.json and resolved.json, as they are before the first point.
 */
#ifndef KBLAT_RUN_DESCRIBE_H
#define KBLAT_RUN_DESCRIBE_H

#include <jansson.h>

#include "instrument/clock.h"
#include "spec/spec.h"

/* Every point with every setting, the columns and series of their kernels, the spec's claims: a new reference. */
json_t *describe_resolved(const struct spec *spec);

struct run_identity {
	const char *host, *boot_id;
	const struct clock_report *clock;
	int argc; /* of the command line, without the program's name */
	char *const *argv;
};

/* "argv" of what is recorded: "kblat", and the words after it. A new reference. */
json_t *describe_command(int argc, char *const *argv);

/* Sets t0 to the current time; `*t0_ticks` is the tick counter at that moment. A new reference. */
json_t *describe_run(const struct spec *spec, const struct run_identity *who, int64_t *t0_ticks);

#endif
