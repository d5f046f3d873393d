/*
 * The measuring threads of an endpoint. They are pinned, may run in a real-time class (then with a time limit), and can
 * be stopped wherever they sleep.
 */
#ifndef KBLAT_RUNNERS_H
#define KBLAT_RUNNERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "measure/kernels/kernel.h"

#define MAX_RUNNERS KERNEL_THREADS

struct err;
struct runners;

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

#endif
