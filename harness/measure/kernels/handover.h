/*
 * A hand-over from one thread to another: a number and the address of its payload, in one cache
 * line. The taker spins, or sleeps until it is woken up. There is one giver and one taker, and the
 * next item is given after the last one was taken, as in a round trip; if messages are lost or
 * late, a later one may replace one that nobody took.
 *
 * Memory order: what the giver wrote before handover_give() is visible to the taker. Sleeping works
 * as in shmem_hot.h: the taker sets its flag and checks again; the giver gives and checks the flag.
 * All four are sequentially consistent operations, so either the taker sees what was given, or the
 * giver sees the flag; no wake-up is lost.
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
	_Alignas(64) uint32_t given; /* of the giver */
	_Alignas(64) uint32_t taken; /* of the taker */
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

/* Take what was given, if it has not been taken yet; false if there is nothing. */
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

/* For the taker: was a number of at least `from` given that it has not taken yet? */
static inline bool handover_holds(struct handover *h, uint32_t from)
{
	const uint64_t word = atomic_load_explicit(&h->word, memory_order_acquire);

	return (uint32_t)(word >> 32) != h->taken && (uint32_t)word >= from;
}

/* Sleep until something is given, a signal arrives (-EINTR), or `longest_ns` have passed (0: no
 * limit). Afterwards check again. */
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
