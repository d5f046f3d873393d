/* Waiting at a board (measure/kernels/backup.h): included by loops. */
#ifndef KBLAT_KERNELS_BOARD_H
#define KBLAT_KERNELS_BOARD_H

#include "measure/kernels/backup.h"
#include "measure/kernels/loop.h"

/* Spins or sleeps as the side polls for messages. 0, or -EINTR (stop). */
ALWAYS int board_await(struct worker *w, struct board_counter *c, uint32_t wanted, uint64_t progress)
{
	uint32_t rounds = 0, seen;

	while ((seen = atomic_load_explicit(&c->count, memory_order_acquire)) != wanted) {
		const bool sleeps = w->poll_recv != POLL_BUSY;

		if ((sleeps || ++rounds % IDLE_ROUNDS_TO_LOOK == 0) && must_end(w, progress))
			return -EINTR;
		if (sleeps)
			board_sleep(c, seen);
		else
			cpu_relax();
	}
	return 0;
}

#endif
