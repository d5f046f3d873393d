/* The hot path of scripted; transport.h describes the functions. Ticks are nanoseconds of virtual time. */
#ifndef KBLAT_TRANSPORTS_SCRIPTED_HOT_H
#define KBLAT_TRANSPORTS_SCRIPTED_HOT_H

#include <errno.h>

#include "transports/scripted.h"

int scripted_strike(struct scripted *t, uint32_t seq);
int scripted_complete(struct scripted *t, uint32_t *seq);
int64_t scripted_wake(struct scripted *t, int64_t until);
void *scripted_send_buffer(struct scripted *t, uint32_t seq);
const void *scripted_recv_buffer(struct scripted *t);

static inline int64_t scripted_begin(struct scripted *t)
{
	return t->role == ROLE_SOURCE && !t->submission ? scripted_submission(&t->s, t->posted) : t->now;
}

static inline int64_t scripted_end(struct scripted *t)
{
	return t->stamp;
}

static inline int64_t scripted_pause(struct scripted *t, int64_t until)
{
	return t->submission ? scripted_wake(t, until) : until; /* other pauses are part of scripted_submission() */
}

static inline int scripted_post(struct scripted *t, uint32_t seq, bool signal)
{
	(void)signal;
	t->posted++;
	t->last = seq;
	return t->role == ROLE_SOURCE && t->s.fault_side == ROLE_SOURCE && seq == t->s.fault_at
		   ? scripted_strike(t, seq)
		   : 0;
}

static inline int scripted_poll_send(struct scripted *t, uint32_t *seq)
{
	if (t->failed)
		return -EIO;
	if (t->polled == t->posted)
		return 0;
	if (t->submission)
		return scripted_complete(t, seq);
	*seq = t->polled++;
	t->stamp = scripted_submission(&t->s, *seq) + t->s.comp_delay;
	return 1;
}

static inline int scripted_poll_recv(struct scripted *t, uint32_t *seq)
{
	if (t->failed)
		return -EIO;
	if (t->next == t->arrivals)
		return 0;
	if (t->role == ROLE_SOURCE && t->arrival[t->next].seq >= t->posted)
		return 0; /* nothing returns before it was sent */

	const struct scripted_arrival *a = &t->arrival[t->next++];
	int rc = 0;

	*seq = a->seq;
	t->payload_seq = a->seq;
	t->now = t->stamp = a->time;
	if (t->role == ROLE_SINK && t->s.fault_side == ROLE_SINK && a->seq == t->s.fault_at)
		rc = scripted_strike(t, a->seq);
	if (rc == 0 && t->role == ROLE_SINK && t->s.fault == FAULT_OVERFLOW && a->seq == t->s.fault_at)
		*seq = UINT32_MAX;
	return rc < 0 ? rc : 1;
}

#define TRANSPORT_STAMPS	    1
#define TRANSPORT_POST_IS_A_SYSCALL /* it is not used for measurements, so one instance of each loop is enough */
#define SCRIPTED_CLOCK_MASK	    ((1ULL << 48) - 1)

static inline uint64_t scripted_device_time(int64_t ns)
{
	return (SCRIPTED_CLOCK_MASK - 1000 + 4 * (uint64_t)ns) & SCRIPTED_CLOCK_MASK;
}

static inline int scripted_poll_send_stamped(struct scripted *t, uint32_t *seq, uint64_t *device)
{
	int rc = scripted_poll_send(t, seq);

	*device = scripted_device_time(t->stamp - t->s.poll_delay);
	return rc;
}

static inline int scripted_poll_recv_stamped(struct scripted *t, uint32_t *seq, uint64_t *device)
{
	int rc = scripted_poll_recv(t, seq);

	*device = scripted_device_time(t->stamp - t->s.poll_delay);
	return rc;
}

static inline int scripted_release(struct scripted *t)
{
	(void)t;
	return 0;
}

static inline int scripted_wait_send(struct scripted *t)
{
	(void)t;
	return 0;
}

static inline int scripted_wait_recv(struct scripted *t)
{
	(void)t;
	return 0;
}

#endif
