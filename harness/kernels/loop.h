/*
 * What all loops share. A <kernel>_loop.c is compiled once for each transport: TRANSPORT names it, TRANSPORT_HOT is the header with its hot path.
 * Every choice made at set-up is a constant argument of an always-inlined function (LOOP_CHOOSE below), so no branch of it is left in a loop.
 */
#ifndef KBLAT_KERNELS_LOOP_H
#define KBLAT_KERNELS_LOOP_H

#include <errno.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "kernels/kernel.h"
#include "transports/payload.h"

#include TRANSPORT_HOT

#define PASTE2(a, b)   a##b
#define PASTE(a, b)    PASTE2(a, b)
#define T(function)    PASTE(TRANSPORT, _##function)
#define INSTANCE(name) PASTE(name##_, TRANSPORT)
#define ALWAYS	       static inline __attribute__((always_inline))
#define likely(x)      __builtin_expect(!!(x), 1)

/* A transport whose device stamps completions by itself says so in its hot header, and has these, too. */
#ifndef TRANSPORT_STAMPS
#define TRANSPORT_STAMPS 0
ALWAYS int T(poll_send_stamped)(struct TRANSPORT *t, uint32_t *seq, uint64_t *device)
{
	(void)t, (void)seq, (void)device;
	return -ENOTSUP;
}

ALWAYS int T(poll_recv_stamped)(struct TRANSPORT *t, uint32_t *seq, uint64_t *device)
{
	return T(poll_send_stamped)(t, seq, device);
}
#endif

/*
 * LOOP_CHOOSE(f, choices, cases) returns what f(LOOP_ARGUMENTS, choices) does. Choices made at set-up are constants of an
 * instance of a loop; `cases` lists those that there can be, LOOP_MODES where the two low bits are a mode of three values.
 * Where each post is a system call nothing is gained by that, and one instance looks at its choices as it runs; likewise
 * with LOOP_ONE_INSTANCE, for builds that are not measured with.
 */
#ifdef TRANSPORT_POST_IS_A_SYSCALL
#undef LOOP_ONE_INSTANCE
#define LOOP_ONE_INSTANCE
#endif

#define LOOP_CASE(f, i)                                                                                                \
	case i:                                                                                                        \
		return f(LOOP_ARGUMENTS, i);
#define LOOP_CASES4(f, i)  LOOP_CASE(f, i) LOOP_CASE(f, (i) + 1) LOOP_CASE(f, (i) + 2) LOOP_CASE(f, (i) + 3)
#define LOOP_CASES16(f, i) LOOP_CASES4(f, i) LOOP_CASES4(f, (i) + 4) LOOP_CASES4(f, (i) + 8) LOOP_CASES4(f, (i) + 12)
/* A mode in the two low bits. */
#define LOOP_MODES(f, i)  LOOP_CASE(f, i) LOOP_CASE(f, (i) + 1) LOOP_CASE(f, (i) + 2)
#define LOOP_MODES4(f, i) LOOP_MODES(f, i) LOOP_MODES(f, (i) + 4) LOOP_MODES(f, (i) + 8) LOOP_MODES(f, (i) + 12)

#ifdef LOOP_ONE_INSTANCE
#define LOOP_CHOOSE(f, choices, cases) return f(LOOP_ARGUMENTS, choices);
#else
#define LOOP_CHOOSE(f, choices, cases)                                                                                 \
	switch (choices) {                                                                                             \
		cases                                                                                                  \
	}                                                                                                              \
	return -EINVAL;
#endif

#define IDLE_ROUNDS_TO_LOOK 256

/* Choices of a sink that are its kernel's own: reception.h. */
enum { RECEPTION_OWN = 8, RECEPTION_OWN2 = 16, RECEPTION_STAMPED = 32 /* the device stamps, too */ };

/* Every n-th post asks for its completion. Counted down, for a division would stand in the time that is measured. */
struct signals {
	uint32_t every, left;
};

ALWAYS struct signals signals_of(const struct worker *w)
{
	return (struct signals){w->signal_every, w->signal_every};
}

/* Does the next post ask for it? Once for each post. */
ALWAYS bool signals_next(struct signals *s)
{
	if (--s->left)
		return false;
	s->left = s->every;
	return true;
}

/* Called only while there is nothing to do. True if the control thread wants this to end. A poll that is but a load leaves the line to its writer
 * for a moment; for any other a pause would only come between the arrival and the next poll. */
ALWAYS bool idle(struct worker *w, uint32_t *rounds, uint64_t progress)
{
#ifdef TRANSPORT_POLL_IS_A_LOAD
	cpu_relax();
#endif
	if (likely(++*rounds % IDLE_ROUNDS_TO_LOOK))
		return false;
	atomic_store_explicit(&w->progress, progress, memory_order_relaxed);
	return atomic_load_explicit(&w->stop, memory_order_relaxed);
}

/* A wait that was cut short by a signal is one that goes on, unless the signal meant stop. */
ALWAYS int unless_stopped(struct worker *w, int rc)
{
	return rc == -EINTR && !atomic_load_explicit(&w->stop, memory_order_relaxed) ? 0 : rc;
}

/* Nothing was received: spin, or sleep. `mode` is constant; `since` is when something was received last (adaptive). 0, -EINTR: stop, or another
 * negative errno. */
ALWAYS int await_message(struct worker *w, struct TRANSPORT *t, const enum poll_mode mode, uint32_t *rounds,
			 int64_t since, uint64_t progress)
{
	if (mode == POLL_BUSY || (mode == POLL_ADAPTIVE && T(pause)(t, since + w->spin_ticks) < since + w->spin_ticks))
		return idle(w, rounds, progress) ? -EINTR : 0;
	atomic_store_explicit(&w->progress, progress, memory_order_relaxed);
	if (atomic_load_explicit(&w->stop, memory_order_relaxed))
		return -EINTR;
	return unless_stopped(w, T(wait_recv)(t));
}

#endif
