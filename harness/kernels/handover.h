/*
 * A hand-over from one thread to another: a number and where its payload is, in one cache line. Who takes it spins, or
 * sleeps until it is woken. One giver, one taker, and the next is given after the last was taken, as in a round trip;
 * where messages get lost and come late, a later one may take the place of one that nobody took.
 *
 * Memory order: what the giver wrote before handover_give() is there for who has taken. Sleeping, as in shmem_hot.h: the
 * sleeper raises its flag and looks again, the giver gives and looks at the flag. All four are sequentially consistent
 * operations, so that either the sleeper sees what was given, or the giver sees the flag; no wake-up is lost.
 */
#ifndef KBLAT_KERNELS_HANDOVER_H
#define KBLAT_KERNELS_HANDOVER_H

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct handover {
	_Alignas(64) _Atomic uint64_t word; /* turn << 32 | number; turns count from 1 */
	const void *_Atomic data;
	_Atomic uint32_t sleeps;     /* futex: 1 while the taker sleeps */
	_Alignas(64) uint32_t given; /* the giver's */
	_Alignas(64) uint32_t taken; /* the taker's */
};

static inline void handover_reset(struct handover *h)
{
	atomic_store(&h->word, 0);
	atomic_store(&h->data, NULL);
	atomic_store(&h->sleeps, 0);
	h->given = h->taken = 0;
}

/* `wakes`: the taker may sleep. */
static inline void handover_give(struct handover *h, uint32_t number, const void *data, bool wakes)
{
	const uint64_t word = (uint64_t)++h->given << 32 | number;

	atomic_store_explicit(&h->data, data, memory_order_relaxed);
	if (!wakes) {
		atomic_store_explicit(&h->word, word, memory_order_release);
		return;
	}
	atomic_store(&h->word, word);
	if (atomic_exchange(&h->sleeps, 0))
		syscall(SYS_futex, &h->sleeps, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Is there something that was not taken yet? */
static inline bool handover_take(struct handover *h, uint32_t *number, const void **data)
{
	const uint64_t word = atomic_load_explicit(&h->word, memory_order_acquire);

	if ((uint32_t)(word >> 32) == h->taken)
		return false;
	h->taken = (uint32_t)(word >> 32);
	*number = (uint32_t)word;
	*data = atomic_load_explicit(&h->data, memory_order_relaxed);
	return true;
}

/* Sleep until something is given, or a signal comes (-EINTR), or for `longest_ns` (0: for ever). Look again after it. */
static inline int handover_sleep(struct handover *h, int64_t longest_ns)
{
	const struct timespec longest = {longest_ns / 1000000000, longest_ns % 1000000000};
	long rc = 0;

	atomic_store(&h->sleeps, 1);
	if ((uint32_t)(atomic_load(&h->word) >> 32) == h->taken)
		rc = syscall(SYS_futex, &h->sleeps, FUTEX_WAIT_PRIVATE, 1, longest_ns ? &longest : NULL, NULL, 0);
	rc = rc < 0 && errno == EINTR ? -EINTR : 0;
	atomic_store(&h->sleeps, 0);
	return (int)rc;
}

#endif
