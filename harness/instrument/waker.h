/*
 * What sleeps for ever can be made to look up now and then: a timer that sends the calling thread a signal, which ends
 * its blocking system call with EINTR. For threads that wait for what may never come, where the waiting call itself
 * knows no time limit, or one would cost a further system call a message.
 */
#ifndef KBLAT_INSTRUMENT_WAKER_H
#define KBLAT_INSTRUMENT_WAKER_H

#include <signal.h>
#include <stdint.h>
#include <time.h>

/* Has a handler that does nothing, without SA_RESTART, in every endpoint. */
#define WAKER_SIGNAL SIGUSR1

struct waker {
	timer_t timer;
};

/* Every `period_ns` (> 0) to the calling thread, until waker_stop(). 0, or a negative errno. */
int waker_start(struct waker *n, int64_t period_ns);
void waker_stop(struct waker *n);

#endif
