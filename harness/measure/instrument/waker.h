/*
 * A timer that regularly sends the calling thread a signal, which ends its blocking system call with EINTR. It is for
 * threads that wait for events that may never come, if the waiting call has no time limit, or if a limit would cost
 * another system call per message.
 */
#ifndef KBLAT_INSTRUMENT_WAKER_H
#define KBLAT_INSTRUMENT_WAKER_H

#include <signal.h>
#include <stdint.h>
#include <time.h>

/* In every endpoint, this signal has a handler that does nothing, without SA_RESTART. */
#define WAKER_SIGNAL SIGUSR1

struct waker {
	timer_t timer;
};

/* Send it to the calling thread every `period_ns` (> 0), until waker_stop(). 0, or a negative errno. */
int waker_start(struct waker *n, int64_t period_ns);
void waker_stop(struct waker *n);

#endif
