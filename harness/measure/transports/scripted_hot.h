/*
 * A transport without a network: delays, losses and reorderings are settings, and time is virtual,
 * so the correct results of a run are known to the nanosecond. It serves to test the recorder,
 * statistics, flags and the handling of failing endpoints from end to end.
 *
 * Message i is submitted at i * interval (+ pauses), completes comp_delay later, and arrives after
 * `delay` + jitter(i), where jitter alternates between +jitter and -jitter. Messages in `delayed`
 * take `delayed_by` longer, those in `lose` never arrive, those in `duplicate` arrive twice.
 * `pattern` and `noise` add to the latency of every message; `noise` differs between repetitions.
 * The sink sees arrivals in chronological order. Both sides derive everything from the settings and
 * do not communicate.
 *
 * With the kernel `rate`, the pacer determines when a message is submitted: step i is due at (i +
 * 1) / rate; at the steps in `stall` the pacer wakes up `stall_by` late. scripted_pace() computes
 * from the settings alone what must happen to every step.
 *
 * With t_send: the device reads the payload of a message read_delay after its submission; a message
 * in `overwrite` is read when the next one has already replaced it.
 *
 * With device stamps: the device stamps a completion `poll_delay` before it is polled, with a clock
 * of its own that counts 4 ticks a nanosecond in 48 bits, and wraps around soon after the start.
 *
 * `fault` makes one side really fail at message `fault_at`: a page fault, a recorder overflow, a
 * bad completion, death, silence, or invalid output.
 */
#ifndef KBLAT_TRANSPORTS_SCRIPTED_HOT_H
#define KBLAT_TRANSPORTS_SCRIPTED_HOT_H

#include <errno.h>

#include "measure/transports/scripted_script.h"

struct scripted_arrival {
	int64_t time;
	uint32_t seq;
};

struct scripted {
	struct transport base;
	struct scripted_script script;
	enum role role;
	bool duplex;
	int64_t now;		 /* source: submission of the next message; sink: arrival of the last */
	int64_t stamp;		 /* what scripted_end() returns */
	uint32_t posted, polled; /* source */
	uint32_t last;		 /* source: the message posted last */
	uint32_t step;		 /* source of a kernel with a pacer: the next step that is due */
	int64_t *submission;	 /* of every step, set by scripted_pace(); NULL: the kernel has no pacer */
	bool rewrites;		 /* the payload is t_send */
	uint32_t next;		 /* sink: index in arrivals */
	uint32_t arrivals;
	struct scripted_arrival *arrival;
	char *payload; /* a correct payload */
	int64_t size;
	uint32_t payload_seq;
	bool failed;
};

extern const struct transport_ops scripted_transport;

/*
 * Duplex: the sink sends every message back, with the same delay; so a round trip takes twice the
 * delay, and a message that is lost on the way there does not return. A source that waits for the
 * next reply sees it arrive; if it was lost, nothing arrives until scripted_pause() has advanced
 * the time.
 */

/* --- the hot path (transport.h) --- */

int scripted_cause_fault(struct scripted *t, uint32_t seq);
int scripted_complete(struct scripted *t, uint32_t *seq);
int64_t scripted_wake(struct scripted *t, int64_t until);
void *scripted_send_buffer(struct scripted *t, uint32_t seq);
const void *scripted_recv_buffer(struct scripted *t);

static inline int64_t scripted_begin(struct scripted *t)
{
	return t->role == ROLE_SOURCE && !t->submission ? scripted_submission(&t->script, t->posted) : t->now;
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
	return t->role == ROLE_SOURCE && t->script.settings.fault_side == ROLE_SOURCE &&
		       seq == t->script.settings.fault_at
		   ? scripted_cause_fault(t, seq)
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
	t->stamp = scripted_submission(&t->script, *seq) + t->script.settings.comp_delay;
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
	if (t->role == ROLE_SINK && t->script.settings.fault_side == ROLE_SINK && a->seq == t->script.settings.fault_at)
		rc = scripted_cause_fault(t, a->seq);
	if (rc == 0 && t->role == ROLE_SINK && t->script.settings.fault == FAULT_OVERFLOW &&
	    a->seq == t->script.settings.fault_at)
		*seq = UINT32_MAX;
	return rc < 0 ? rc : 1;
}

#define TRANSPORT_STAMPS	    1
#define TRANSPORT_POST_IS_A_SYSCALL /* it is not used for measurements, so one instance of each loop is enough */
#define SCRIPTED_CLOCK_HZ	    4000000000
#define SCRIPTED_CLOCK_MASK	    ((1ULL << 48) - 1)

static inline uint64_t scripted_device_time(int64_t ns)
{
	return (SCRIPTED_CLOCK_MASK - 1000 + 4 * (uint64_t)ns) & SCRIPTED_CLOCK_MASK;
}

static inline int scripted_poll_send_stamped(struct scripted *t, uint32_t *seq, uint64_t *device)
{
	int rc = scripted_poll_send(t, seq);

	*device = scripted_device_time(t->stamp - t->script.settings.poll_delay);
	return rc;
}

static inline int scripted_poll_recv_stamped(struct scripted *t, uint32_t *seq, uint64_t *device)
{
	int rc = scripted_poll_recv(t, seq);

	*device = scripted_device_time(t->stamp - t->script.settings.poll_delay);
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
