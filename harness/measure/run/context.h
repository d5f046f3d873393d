/*
 * What a run knows before its first point, which is constant for everything that runs a point; and a
 * point while it runs: the two endpoints of each of its flows.
 */
#ifndef KBLAT_RUN_CONTEXT_H
#define KBLAT_RUN_CONTEXT_H

#include <jansson.h>
#include <signal.h>

#include "measure/instrument/clock.h"
#include "measure/placement/survey.h"
#include "measure/point/point.h"
#include "measure/run/channel.h"
#include "measure/run/hosts.h"

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
	bool wants_taken;    /* claims are judged by the points, if others take little of their CPUs */
	volatile sig_atomic_t *interrupted;
};

#define OBJECT_NAME 17 /* 16 hexadecimal digits */

/* One endpoint, as seen by the coordinator. Endpoint 2 * i + role belongs to flow i. */
struct peer {
	const struct flow *flow;
	enum role role;
	char name[FLOW_NAME_MAX + 16]; /* "small sink", "sink" */
	struct channel channel;
	char flow_name[OBJECT_NAME]; /* of a source: both sides' objects have it in their names */
	const char *shield;	     /* of the environment; NULL: it is in none */
	bool idle;		     /* its flow takes no part in this repetition */
	char host[64];		     /* the boot of the host that it was started on first; "": it was not yet */
	struct survey *survey;
	unsigned asked; /* answers to "status" that are still to come */
	json_t *reply;	/* the last awaited answer */
};

struct session {
	const struct run_context *run;
	const struct point *point;
	char *dir;    /* points/<nnnn> */
	size_t count; /* of endpoints */
	struct peer *peer;
	struct placement *placed;    /* by endpoint */
	json_t *granted, *placement; /* of point.json */
	bool is_open;		     /* all endpoints have made what they need */
};

#endif
