/*
 * What a run knows before its first point, which is constant for everything that runs a point; and a
 * point while it runs: the two endpoints of each of its flows.
 */
#ifndef KBLAT_RUN_CONTEXT_H
#define KBLAT_RUN_CONTEXT_H

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "measure/instrument/clock.h"
#include "measure/placement/survey.h"
#include "measure/point/point.h"
#include "measure/run/channel.h"

/* --- hosts (hosts.c) --- */

/*
 * The hosts on which endpoints run: their names in the run directory and, for hosts other than the coordinator's, the
 * quality of their tick counters, the conversion of their ticks to nanoseconds since t0, and their states before and
 * after the run.
 *
 * Ticks of another host are converted with that host's own fit. Their origin is known only as precisely as a message
 * over the endpoint's channel can tell, which is about a millisecond, unless it is measured.
 */

/* One that is not the coordinator's. */
struct host {
	char *name; /* its label, which is its folder's name, too */
	char *boot_id;
	char *launcher; /* that started an endpoint there */
	json_t *clock;	/* clock_json() of its tick counter */
	struct clock_conversion conversion;
};

struct hosts {
	const char *run_path, *own;		  /* what this machine is called in it */
	bool mask;				  /* names are "host-1", the coordinator's, "host-2", … */
	struct clock_conversion conversion;	  /* of this machine's ticks to nanoseconds since t0 */
	const volatile sig_atomic_t *interrupted; /* of the run */
	bool no_state;				  /* theirs are not captured */
	json_t *label;				  /* name -> what it is called in the run directory */
	json_t *warnings;			  /* what went wrong and is no reason to end, until somebody takes it */
	struct host *list;
	size_t count;
};

/* What is known of this machine and of the run directory is set once it is. */
void hosts_init(struct hosts *h, bool mask, const volatile sig_atomic_t *interrupted);
void hosts_free(struct hosts *h);

/* A host's name in the run directory. Belongs to `h`. */
const char *hosts_label(struct hosts *h, const char *name);

/* The other host of that boot; NULL: it has not been met, or `h` is NULL. */
const struct host *hosts_find(const struct hosts *h, const char *boot_id);

/* To be called when an endpoint on another host has said hello: if the host is new, calibrates its counter and stores
 * its state. 0 or a negative errno. */
int hosts_meet(struct hosts *h, struct channel *c, const char *launcher, struct err *e);

/* To be called after all measurements: stores the states again, and what has changed. Errors become warnings. */
void hosts_keep_after(struct hosts *h);

/* --- what a run knows --- */

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
	bool borrows;		     /* the endpoints are another session's, and compare clocks in between */
	struct placement *placed;    /* by endpoint */
	json_t *granted, *placement; /* of point.json */
	bool is_open;		     /* all endpoints have made what they need */
	void (*moved)(void *arg,
		      uint64_t messages); /* of the repetition so far, from time to time; NULL: nobody asks */
	void *moved_arg;
};

#endif
