/*
 * What sleeps for ever can be made to look up now and then: a timer that sends the calling thread a signal, which ends
 * its blocking system call with EINTR. For threads that wait for what may never come, where the waiting call itself
 * knows no time limit, or one would cost a further system call a message.
 */
#ifndef KBLAT_INSTRUMENT_NUDGE_H
#define KBLAT_INSTRUMENT_NUDGE_H

#include <signal.h>
#include <stdint.h>
#include <time.h>

/* Has a handler that does nothing, without SA_RESTART, in every endpoint. */
#define NUDGE_SIGNAL SIGUSR1

struct nudge {
	timer_t timer;
};

/* Every `period_ns` (> 0) to the calling thread, until nudge_stop(). 0, or a negative errno. */
int nudge_start(struct nudge *n, int64_t period_ns);
void nudge_stop(struct nudge *n);

#endif
