#include "measure/instrument/waker.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id /* glibc has the field, but the name only since 2.35 */
#define sigev_notify_thread_id _sigev_un._tid
#endif

int waker_start(struct waker *n, int64_t period_ns)
{
	const struct timespec period = {period_ns / 1000000000, period_ns % 1000000000};
	const struct itimerspec every = {period, period};
	struct sigevent event;

	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = WAKER_SIGNAL;
	event.sigev_notify_thread_id = gettid();
	if (timer_create(CLOCK_MONOTONIC, &event, &n->timer))
		return -errno;
	timer_settime(n->timer, 0, &every, NULL);
	return 0;
}

void waker_stop(struct waker *n)
{
	timer_delete(n->timer);
}
