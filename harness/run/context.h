/*
 * What a run knows before its first point. It is passed to everything that runs a point, and is constant there.
 */
#ifndef KBLAT_RUN_CONTEXT_H
#define KBLAT_RUN_CONTEXT_H

#include <jansson.h>
#include <signal.h>

#include "instrument/clock.h"
#include "run/hosts.h"

struct run_context {
	const char *path;	 /* of the run directory */
	const json_t *resolved;	 /* resolved.json */
	const char *launcher[2]; /* by role; NULL or "": this machine */
	const char *kbtune;	 /* the program that puts an endpoint into a shield */
	double tick_hz;
	struct clock_conversion conversion; /* ticks of this machine to nanoseconds since t0 */
	struct hosts *hosts; /* the others, as they are met; the one thing here that grows. NULL: none can be */
	char boot_id[64];    /* of this machine */
	bool mask;	     /* nothing that identifies this machine is stored */
	bool wants_skew;     /* how far two CPUs' tick counters differ is not known yet */
	volatile sig_atomic_t *interrupted;
};

#endif
