/*
 * What all loops have in common. A <kernel>_loop.c is compiled for a transport (kernel_list.h):
 * TRANSPORT is its name, TRANSPORT_HOT the header with its hot path; for transports that are called
 * these are `called` and called_hot.h. Every choice made at set-up is a constant argument of a
 * function that is always inlined (LOOP_INSTANCES below), so it does not cause any branches in a loop.
 */
#ifndef KBLAT_KERNELS_LOOP_H
#define KBLAT_KERNELS_LOOP_H

#include <errno.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "measure/kernels/kernel.h"
#include "measure/transports/payload.h"

#define ALWAYS	  static inline __attribute__((always_inline))
#define likely(x) __builtin_expect(!!(x), 1)

#include TRANSPORT_HOT

#define PASTE2(a, b) a##b
#define PASTE(a, b)  PASTE2(a, b)
#define T(function)  PASTE(TRANSPORT, _##function)
#ifdef LOGS_GAPS
#define INSTANCE(name) PASTE(PASTE(name##_, TRANSPORT), _gaps)
#else
#define INSTANCE(name) PASTE(name##_, TRANSPORT)
#endif

/* A transport whose device stamps completions defines this in its hot header, and provides these
 * functions, too. */
#ifndef TRANSPORT_STAMPS
#define TRANSPORT_STAMPS 0
ALWAYS int T(poll_send_stamped)(struct TRANSPORT *t, uint32_t *seq, uint64_t *device)
{
	(void)t, (void)seq, (void)device;
	return -ENOTSUP;
}

#ifndef TRANSPORT_STAGES
ALWAYS int T(poll_recv_stamped)(struct TRANSPORT *t, uint32_t *seq, uint64_t *device)
{
	return T(poll_send_stamped)(t, seq, device);
}
#endif
#endif

/* Likewise a transport whose kernel stamps messages on their way; poll_recv_stamped is then its own. */
#ifndef TRANSPORT_STAGES
#define TRANSPORT_STAGES 0
ALWAYS void T(take_stages)(struct TRANSPORT *t)
{
	(void)t;
}
#endif

/* Likewise a transport in which a sleeping side must be woken up by the other side, because no
 * device does it. */
#ifndef TRANSPORT_WAKES
#define TRANSPORT_WAKES 0
ALWAYS void T(wake_recv)(struct TRANSPORT *t)
{
	(void)t;
}

ALWAYS void T(wake_send)(struct TRANSPORT *t)
{
	(void)t;
}
#endif

/* Likewise one whose post may have to wait for room. */
#ifndef TRANSPORT_POST_WAITS
#define TRANSPORT_POST_WAITS 0
ALWAYS int T(post_try)(struct TRANSPORT *t, uint32_t seq, bool signal)
{
	int rc = T(post)(t, seq, signal);

	return rc ? rc : 1;
}
#endif

/* Likewise one that posts several messages at once. */
#ifndef TRANSPORT_LISTS
#define TRANSPORT_LISTS 0
ALWAYS int T(post_more)(struct TRANSPORT *t, uint32_t seq, bool signal)
{
	return T(post)(t, seq, signal);
}

ALWAYS int T(flush)(struct TRANSPORT *t)
{
	(void)t;
	return 0;
}
#endif

/* Likewise one that polls several completions at once. */
#ifndef TRANSPORT_POLLS_MANY
#define TRANSPORT_POLLS_MANY 0
ALWAYS int T(poll_sends)(struct TRANSPORT *t, uint32_t *seq)
{
	return T(poll_send)(t, seq);
}
#endif

/* Likewise one whose messages may be empty. */
#ifndef TRANSPORT_POSTS_EMPTY
#define TRANSPORT_POSTS_EMPTY 0
ALWAYS int T(post_empty)(struct TRANSPORT *t, uint32_t seq, bool signal)
{
	(void)t, (void)seq, (void)signal;
	return -ENOTSUP;
}
#endif

/* Likewise one with a device that memory is registered with. */
#ifndef TRANSPORT_REGISTERS
#define TRANSPORT_REGISTERS 0
ALWAYS int T(register_memory)(struct TRANSPORT *t, void *data, size_t size, void **handle)
{
	(void)t, (void)data, (void)size, (void)handle;
	return -ENOTSUP;
}

ALWAYS int T(deregister_memory)(struct TRANSPORT *t, void *handle)
{
	(void)t, (void)handle;
	return -ENOTSUP;
}
#endif

/* Likewise one with connections that can be set up without the other side. */
#ifndef TRANSPORT_CONNECTS
#define TRANSPORT_CONNECTS 0
ALWAYS int T(set_up)(struct TRANSPORT *t, void **handle)
{
	(void)t, (void)handle;
	return -ENOTSUP;
}

ALWAYS int T(tear_down)(struct TRANSPORT *t, void *handle)
{
	(void)t, (void)handle;
	return -ENOTSUP;
}
#endif

/* Likewise one whose one-sided operations need the other side to call the library now and then. */
#ifndef TRANSPORT_SERVES
#define TRANSPORT_SERVES 0
ALWAYS int T(serve)(struct TRANSPORT *t)
{
	(void)t;
	return 0;
}

ALWAYS int T(part)(struct TRANSPORT *t)
{
	(void)t;
	return 1;
}
#endif

/* Likewise one with operations that fetch bytes from the other side. */
#ifndef TRANSPORT_FETCHES
#define TRANSPORT_FETCHES 0
ALWAYS bool T(fetched)(const struct TRANSPORT *t, uint32_t seq)
{
	(void)t, (void)seq;
	return true;
}
#endif

/*
 * Choices made at set-up, of six bits, are constants in each instance of a loop. LOOP_INSTANCES(f,
 * CAN_BE) makes an instance of f(w, state, choices), which is always inline, for each possible
 * combination, i.e. for which the constant expression CAN_BE(choices) is true. LOOP_RUN(f, w,
 * state, choices) calls the right one. Each instance is a separate function, so they do not
 * influence each other's register allocation. If a post is a system call, nothing is gained by
 * that, and a single instance tests its choices at run time; likewise with LOOP_ONE_INSTANCE, for
 * builds that do not measure anything.
 */
#if defined(TRANSPORT_POST_IS_A_SYSCALL) && !defined(LOOP_ONE_INSTANCE)
#define LOOP_ONE_INSTANCE
#endif

#ifdef LOOP_ONE_INSTANCE
#define LOOP_INSTANCES(f, CAN_BE)
#define LOOP_RUN(f, w, state, choices) f(w, state, choices)
#else
#define LOOP_RUN(f, w, state, choices) f##_instances[choices](w, state)
#define LOOP_INSTANCES(f, CAN_BE)                                                                                      \
	LOOP_EACH(LOOP_INSTANCE, f, CAN_BE)                                                                            \
	static int (*const f##_instances[64])(struct worker * w, void *state) = {LOOP_EACH(LOOP_ROW, f, CAN_BE)};

#define LOOP_INSTANCE(f, CAN_BE, i)                                                                                    \
	static int f##_##i(struct worker *w, void *state)                                                              \
	{                                                                                                              \
		return CAN_BE(i) ? f(w, state, i) : -EINVAL;                                                           \
	}
#define LOOP_ROW(f, CAN_BE, i) f##_##i,

/* X(f, CAN_BE, i) for i from 000 to 077: octal, two digits each. */
/* clang-format does not converge here: */
/* clang-format off */
#define LOOP_EACH(X, f, CAN_BE) \
	LOOP_EACH8(X, f, CAN_BE, 0) LOOP_EACH8(X, f, CAN_BE, 1) \
	LOOP_EACH8(X, f, CAN_BE, 2) LOOP_EACH8(X, f, CAN_BE, 3) \
	LOOP_EACH8(X, f, CAN_BE, 4) LOOP_EACH8(X, f, CAN_BE, 5) \
	LOOP_EACH8(X, f, CAN_BE, 6) LOOP_EACH8(X, f, CAN_BE, 7)
#define LOOP_EACH8(X, f, CAN_BE, d) \
	X(f, CAN_BE, 0##d##0) X(f, CAN_BE, 0##d##1) \
	X(f, CAN_BE, 0##d##2) X(f, CAN_BE, 0##d##3) \
	X(f, CAN_BE, 0##d##4) X(f, CAN_BE, 0##d##5) \
	X(f, CAN_BE, 0##d##6) X(f, CAN_BE, 0##d##7)
/* clang-format on */
#endif

#define IDLE_ROUNDS_TO_LOOK 256

/*
 * Loops that log gaps (kernel_list.h) read the time in each round of a wait, and
 * once for each message. In other loops this does nothing.
 */
ALWAYS void gap_log_round(struct worker *w)
{
#ifdef LOGS_GAPS
	gap_log_look(&w->gap_log);
#else
	(void)w;
#endif
}

/* After a post. If it is a system call, its duration is not a gap. */
ALWAYS void gap_log_post(struct worker *w)
{
#if defined(LOGS_GAPS) && defined(TRANSPORT_POLL_IS_A_LOAD)
	gap_log_look(&w->gap_log);
#elif defined(LOGS_GAPS)
	gap_log_skip(&w->gap_log);
#else
	(void)w;
#endif
}

/* Choices of a sink that belong to its kernel: reception.h. */
enum { RECEPTION_OWN = 8, RECEPTION_OWN2 = 16, RECEPTION_STAMPED = 32 /* the device stamps, too */ };

/* Every n-th post requests a completion. This is counted down, because a division would be part of
 * the time that is measured. */
struct signals {
	uint32_t every, left;
};

ALWAYS struct signals signals_of(const struct worker *w)
{
	return (struct signals){w->signal_every, w->signal_every};
}

/* Does the next post request a completion? To be called once for each post. */
ALWAYS bool signals_next(struct signals *s)
{
	if (--s->left)
		return false;
	s->left = s->every;
	return true;
}

/* Publish the progress. True if the control thread wants the loop to end. Called only while there
 * is nothing to do. */
ALWAYS bool must_end(struct worker *w, uint64_t progress)
{
	atomic_store_explicit(&w->progress, progress, memory_order_relaxed);
	return atomic_load_explicit(&w->stop, memory_order_relaxed);
}

/* Called only while there is nothing to do. True if the loop must end. If a poll is just a load,
 * this pauses, which leaves the cache line to its writer for a moment; otherwise a pause would only
 * delay the next poll after an arrival. */
ALWAYS bool idle(struct worker *w, uint32_t *rounds, uint64_t progress)
{
#if defined(TRANSPORT_POLL_IS_A_LOAD) && !defined(LOGS_GAPS)
	cpu_relax();
#endif
	gap_log_round(w);
	if (likely(++*rounds % IDLE_ROUNDS_TO_LOOK))
		return false;
	return must_end(w, progress);
}

/* A wait that was interrupted by a signal continues, unless the loop must stop. */
ALWAYS int unless_stopped(struct worker *w, int rc)
{
	return rc == -EINTR && !atomic_load_explicit(&w->stop, memory_order_relaxed) ? 0 : rc;
}

/* The loop of a side that has nothing to do until the other one has ended. The control thread wakes
 * this thread up with signals until it has ended; periodic checks would disturb the measurement. */
static __attribute__((unused)) int sleep_until_stopped(struct worker *w)
{
	const struct timespec long_time = {1, 0};

	while (!atomic_load(&w->stop))
		nanosleep(&long_time, NULL);
	return 0;
}

/* A passive side. */
ALWAYS int serve_until_stopped(struct worker *w, struct TRANSPORT *t)
{
	int rc = 0;

	if (!TRANSPORT_SERVES)
		return sleep_until_stopped(w);
	while (rc == 0 && !atomic_load_explicit(&w->stop, memory_order_relaxed))
		rc = T(serve)(t);
	return rc;
}

/* A side whose own operations are complete, while the other side's may still need it. */
ALWAYS int serve_until_both_end(struct worker *w, struct TRANSPORT *t)
{
	int rc = 0;

	while (rc == 0 && !atomic_load_explicit(&w->stop, memory_order_relaxed))
		rc = T(part)(t);
	return rc < 0 ? rc : 0;
}

/* Nothing was received: spin or sleep. `mode` is constant; `since` is the time of the last
 * reception (for adaptive polling). 0, -EINTR (stop), or another negative errno. */
ALWAYS int await_message(struct worker *w, struct TRANSPORT *t, const enum poll_mode mode, uint32_t *rounds,
			 int64_t since, uint64_t progress)
{
	if (mode == POLL_BUSY || (mode == POLL_ADAPTIVE && T(pause)(t, since + w->spin_ticks) < since + w->spin_ticks))
		return idle(w, rounds, progress) ? -EINTR : 0;
	if (must_end(w, progress))
		return -EINTR;
	return unless_stopped(w, T(wait_recv)(t));
}

#endif
