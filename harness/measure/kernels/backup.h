/*
 * A backup of a server's writes: when the sink of a flow with `backups` (kernel pingpong: the server) has received a
 * message, the sinks of all flows with this kernel, which run on the same host, send it to their sources (the backups),
 * which confirm it. The server answers when all have. So a write takes four flows for three backups, and they meet at
 * a board: two counters in memory that the processes share.
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
struct board_counter {
	_Alignas(64) _Atomic uint32_t count;
	_Atomic uint32_t sleepers;
};

struct board {
	struct board_counter asked;  /* messages that the server wants stored */
	struct board_counter stored; /* confirmations, of all backups together */
};

/* One side's view of the board: the counters when the repetition began. */
struct board_view {
	struct board *board;
	char name[64]; /* in /dev/shm */
	uint32_t asked, stored;
};

/* All sides of a point that name the same board share it. */
int board_open(struct board_view *v, const struct kernel_place *place, struct err *e);
void board_start(struct board_view *v); /* when nobody counts */
void board_close(struct board_view *v);

/* Sleep until the counter is not `seen` any more, or until a signal arrives. */
void board_sleep(struct board_counter *c, uint32_t seen);
void board_wake(struct board_counter *c);

static inline void board_add(struct board_counter *c)
{
	atomic_fetch_add(&c->count, 1);
	if (atomic_load(&c->sleepers))
		board_wake(c);
}

extern const struct kernel_ops backup_kernel;

#endif
