/*
 * The state of an endpoint, which is one side of one flow. endpoint.c reads commands, endpoint_open.c creates what a
 * point needs, endpoint_report.c returns what was measured, and endpoint_host.c tells of the host. What
 * endpoint.c needs of them is below.
 */
#ifndef KBLAT_ENDPOINT_STATE_H
#define KBLAT_ENDPOINT_STATE_H

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/wire.h"
#include "measure/instrument/control_groups.h"
#include "measure/instrument/device_clock.h"
#include "measure/instrument/discipline.h"
#include "measure/instrument/gap_log.h"
#include "measure/instrument/noise.h"
#include "measure/instrument/recorder.h"
#include "measure/kernels/kernel.h"
#include "measure/point/flow.h"
#include "measure/trace/trace_events.h"

struct err;
struct runners;
struct trace;

/* --- threads (runners.c) --- */

#define MAX_RUNNERS KERNEL_THREADS

/* One thread. */
struct runner {
	const struct runners *all;
	kernel_loop *loop;
	int cpu; /* -1: unpinned */
	pthread_t thread;
	atomic_bool started, ended;
	pid_t tid;
	int rc;
	struct counters usage;
};

struct runners {
	struct worker *worker;
	int ended_fd;	  /* eventfd: one of them has ended */
	int priority;	  /* of SCHED_FIFO; 0: the class of all */
	int reserved_cpu; /* where a thread spins that the others must leave alone; -1: there is none */
	bool counts_cycles;
	int64_t start_ns; /* CLOCK_MONOTONIC: when loops begin; 0: at once */
	atomic_bool wait; /* and not before runners_begin() */
	struct runner runner[MAX_RUNNERS];
	unsigned count;
};

/* Installs a handler for WAKER_SIGNAL in this process. */
void runners_init(struct runners *r, struct worker *worker, int ended_fd);

/* Makes them run at SCHED_FIFO `priority` (0: no), for at most `limit_ns` without sleeping. STATUS_IMPOSSIBLE if that
 * is not permitted. */
int runners_prioritise(struct runners *r, int priority, int64_t limit_ns, struct err *e);

/* Was a thread stopped because it ran longer? Reported only once. */
bool runners_overran(void);

/* Discard the threads of the last repetition. The loops of the next begin at `start_ns` of CLOCK_MONOTONIC (0: at
 * once). */
void runners_clear(struct runners *r, int64_t start_ns);

/* Start a thread for a loop, and wait until it is about to begin. */
int runners_start(struct runners *r, kernel_loop *loop, int cpu, struct err *e);

/* Let waiting threads begin. */
void runners_begin(struct runners *r);

/*
 * Makes every thread check the stop flag, wherever it sleeps. As a signal can arrive just before a blocking call, it is
 * repeated every millisecond. True if all have ended.
 */
bool runners_stop(struct runners *r, int tries);

bool runners_have_ended(const struct runners *r);

/* The error of the first thread that failed; 0 if none did. */
int runners_failure(const struct runners *r);

/* All have ended. */
void runners_join(struct runners *r);
struct counters runners_usage(const struct runners *r);

/* A millisecond. */
void runners_nap(void);

/* --- the endpoint --- */

/* Of `explain` (endpoint_trace.h). */
struct endpoint_trace {
	bool mask;  /* other tasks have no names */
	bool is_on; /* of this repetition */
	struct trace *trace;
	char why[256]; /* it is not possible; "": it is, or was not tried */
	struct trace_words words;
	struct gap_log gap_log;		  /* while a repetition runs the worker has it */
	const struct kernel_loops *loops; /* of this repetition, if others than the flow's */
	struct stolen stolen;		  /* before it */
};

/* What the threads of a side do over its transport, and where they record it. */
struct work {
	struct flow flow;
	struct recorder recorder;
	const struct kernel_column *column[KERNEL_COLUMNS]; /* this side's, in the recorder's order */
	void *side;					    /* of the kernel's open_side() */
};

struct endpoint {
	int out;
	struct wire in;
	bool quit;
	int (*examine)(json_t **findings, struct err *e); /* endpoint_serve() */

	enum role role;
	struct work measured, comparing; /* the flow's own; a comparison of clocks over the flow's transport */
	struct work *work;		 /* one of them: that of this repetition */
	struct transport *transport;
	bool has_met, is_connected; /* it was told to connect; and has done so */
	int cpu, spare_cpu;	    /* dealt by the coordinator; -1: none */
	int numa_node;
	struct clock_conversion conversion;
	bool is_apart;				   /* the other side is on another host: */
	struct clock_conversion source_conversion; /* what the source has stamped is converted so */
	struct device_clock device_clock;	   /* with the device's stamps: around the repetition */
	bool is_disciplined;			   /* `wall` is a clock that others share: */
	clockid_t wall;
	int wall_fd;	/* of an adapter's clock; -1: none is open */
	char *keep_dir; /* where columns go if the coordinator dies; NULL: nowhere */

	struct worker worker;
	struct runners runners;
	bool running, control, warm_up; /* control: a repetition without the threads that have a setting of their own */
	struct machine_load load;	/* before the threads began */
	struct control_group_limits groups;
	bool is_locked; /* all memory, also what is allocated later */
	json_t *device_before;
	struct endpoint_trace trace;
	int64_t settled; /* messages that the source has posted, all of them completed; -1: that is not known */
};

/* endpoint_open.c: the commands that prepare a point: reporting the available CPUs, and creating memory, a transport and
 * whatever else its settings require. Each returns 0 and the reply in `*reply` (a new reference), or a negative errno. */
int endpoint_survey(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);
int endpoint_open(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);

/* What an "arm" asks for: with a "comparison" (its parameters) that of clocks, which lasts until endpoint_end_comparison();
 * otherwise the flow's own. 0 or a negative errno. */
int endpoint_choose_work(struct endpoint *ep, const json_t *order, struct err *e);
void endpoint_end_comparison(struct endpoint *ep);

/* Locks the memory that there is, or touches it where that is not permitted; nothing with `touch: no`. Again before
 * each repetition, unless what is allocated later is locked, too, and the process has not forked since. */
void endpoint_lock_memory(struct endpoint *ep);

/* endpoint_report.c: what is returned when a repetition has ended. To be called when the measuring threads have
 * ended: converts the columns and returns "done", which describes what happened and is to be followed by the
 * columns. A new reference. */
json_t *endpoint_report(struct endpoint *ep);

/* What control groups have taken from this process so far. */
struct control_group_limits endpoint_groups_now(void);

/* Sends the bytes of the columns in the order listed in the "done". 0 or a negative errno. */
int endpoint_send_columns(const struct endpoint *ep);

/* For the case that the coordinator died during a repetition: stores what was measured in the run directory. */
void endpoint_keep_columns(struct endpoint *ep);

/* endpoint_host.c: commands about its host, as in endpoint.c. "calibrate": the counter's frequency and checks;
 * "ticks": its current value, immediately; "capture": the machine's state, file by file; "discipline": what
 * synchronises the shared clock, and how well ("method": "ptp" or "system"); "wall": the time of that clock in
 * wall_ns, and the time since t0 in at_ns; "room": the memory and threads available for a repetition; "doctor": the
 * results of its checks. */
int endpoint_calibrate(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);
int endpoint_ticks(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);
int endpoint_capture(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);
int endpoint_discipline(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);
int endpoint_wall(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);
void endpoint_wall_close(struct endpoint *ep);
int endpoint_room(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);
int endpoint_doctor(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);

#endif
