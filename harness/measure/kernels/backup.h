/*
 * A backup of a server's writes: when the sink of a flow with `backups` (kernel pingpong: the server) has received a
 * message, the sinks of all flows with this kernel, which run on the same host, send it to their sources (the backups),
 * which confirm it. The server answers when all have. So a write takes four flows for three backups, and they meet at
 * shared counters: two, in memory of all these processes.
 */
#ifndef KBLAT_KERNELS_BACKUP_H
#define KBLAT_KERNELS_BACKUP_H

#include "measure/kernels/kernel.h"

struct backup_settings {
	int64_t messages, size, answer;
};

enum { BACKUP_T_SUBM, BACKUP_T_BACK };
enum { BACKUP_SOURCE, BACKUP_SINK };

/* A counter that only grows, and wraps. */
struct shared_counter {
	_Alignas(64) _Atomic uint32_t count;
	_Atomic uint32_t sleepers;
};

struct shared_counters {
	struct shared_counter asked;  /* messages that the server wants stored */
	struct shared_counter stored; /* confirmations, of all backups together */
};

/* One side's view of the shared counters: what they were when the repetition began. */
struct shared_counters_view {
	struct shared_counters *counters;
	char name[64]; /* in /dev/shm */
	uint32_t asked, stored;
};

/* All sides of a point have the same ones. */
int shared_counters_open(struct shared_counters_view *v, const struct kernel_place *place, struct err *e);
void shared_counters_start(struct shared_counters_view *v); /* when nobody counts */
void shared_counters_close(struct shared_counters_view *v);

/* Sleep until the counter is not `seen` any more, or until a signal arrives. */
void shared_counter_sleep(struct shared_counter *c, uint32_t seen);
void shared_counter_wake(struct shared_counter *c);

static inline void shared_counter_add(struct shared_counter *c)
{
	atomic_fetch_add(&c->count, 1);
	if (atomic_load(&c->sleepers))
		shared_counter_wake(c);
}

extern const struct kernel_ops backup_kernel;

#endif
