/*
 * The sink of a kernel whose messages go in one direction: receives all messages, stamps each, and
 * releases its buffer. Before including this file, a kernel defines what else it does with a
 * message:
 *
 *   RECEPTION_COLUMN                                        where t_recv is kept
 *   RECEPTION_DEVICE_COLUMN(w)                              where the device's own stamps are kept; only if the kernel chooses RECEPTION_STAMPED (32)
 *   RECEPTION_CHOICES(w)                                    its set-up choices, of RECEPTION_OWN (8) and RECEPTION_OWN2 (16)
 *   RECEPTION_CAN_BE(choices)                               a constant expression: may these stand together?
 *   RECEPTION_TAKE(w, t, seq, choices)                      always inline, between the stamp and release; 0 or a negative errno
 *
 * and has reception_sink() for its table of loops.
 */
#ifndef KBLAT_KERNELS_RECEPTION_H
#define KBLAT_KERNELS_RECEPTION_H

/* Choices of the sink made at set-up: the two lowest bits are the poll mode, followed by this one
 * and then those of the kernel. */
enum { RECEPTION_WAKES = 4 };

#ifdef RECEPTION_DEVICE_COLUMN
#define RECEPTION_CAN_STAMP (TRANSPORT_STAMPS || TRANSPORT_STAGES)
#else
#define RECEPTION_CAN_STAMP	   0
#define RECEPTION_DEVICE_COLUMN(w) 0
#endif

/* The state of a sink's loop, with which it can be resumed. */
struct reception {
	uint64_t received, target;
};

ALWAYS int reception_run(struct worker *w, void *state, const unsigned choices)
{
	struct reception *r = state;
	const enum poll_mode mode = (enum poll_mode)(choices & 3);
	struct TRANSPORT *t = (struct TRANSPORT *)w->transport;
	const uint32_t messages = w->messages;
	const uint64_t target = r->target;
	int64_t *const t_recv = w->column[RECEPTION_COLUMN];
	int64_t *const t_device = choices & RECEPTION_STAMPED ? w->column[RECEPTION_DEVICE_COLUMN(w)] : NULL;
	int64_t stamp = mode == POLL_ADAPTIVE ? T(begin)(t) : 0;
	uint64_t n = r->received;
	uint32_t rounds = 0, seq = 0;
	uint64_t device = 0;
	int rc = 0;

	while (n < target) {
		rc = choices & RECEPTION_STAMPED ? T(poll_recv_stamped)(t, &seq, &device) : T(poll_recv)(t, &seq);
		if (!likely(rc > 0)) {
			if (rc == 0)
				rc = await_message(w, t, mode, &rounds, stamp, n);
			if (rc < 0)
				break;
			continue;
		}
		stamp = T(end)(t);
		if (likely(seq < messages)) {
			t_recv[seq] = stamp;
			if ((choices & RECEPTION_STAMPED) && likely(device))
				t_device[seq] = (int64_t)device;
			rc = RECEPTION_TAKE(w, t, seq, choices);
			if (!likely(rc >= 0))
				break;
		} else {
			w->counters.overflows++;
		}
		rc = T(release)(t);
		if (!likely(rc == 0))
			break;
		if (choices & RECEPTION_WAKES)
			T(wake_send)(t);
		gap_log_round(w);
		n++;
	}
	r->received = n;
	atomic_store(&w->progress, n);
	return rc < 0 ? rc : 0;
}

#define RECEPTION_CAN_RUN(choices)                                                                                     \
	((choices & 3) <= POLL_ADAPTIVE && (TRANSPORT_WAKES || !(choices & RECEPTION_WAKES)) &&                        \
	 (RECEPTION_CAN_STAMP || !(choices & RECEPTION_STAMPED)) && RECEPTION_CAN_BE(choices))

LOOP_INSTANCES(reception_run, RECEPTION_CAN_RUN)

#if TRANSPORT_STAGES
/* On its own, so that the loop without stamps does not depend on it. */
static __attribute__((noinline)) int reception_receive_stamped(struct worker *w, struct reception *r, unsigned choices)
{
	return reception_run(w, r, choices | RECEPTION_STAMPED);
}
#endif

static int reception_receive(struct worker *w, struct reception *r)
{
	const unsigned choices = (unsigned)w->poll_recv |
				 (TRANSPORT_WAKES && w->poll_send != POLL_BUSY ? RECEPTION_WAKES : 0) |
				 RECEPTION_CHOICES(w);

#if TRANSPORT_STAGES
	if (choices & RECEPTION_STAMPED)
		return reception_receive_stamped(w, r, choices);
#endif
	return LOOP_RUN(reception_run, w, r, choices);
}

/* Duplicates are only found afterwards. Each makes the loop end one message too early, so the loop
 * is resumed. */
static int reception_sink(struct worker *w)
{
	struct reception r = {0, w->messages};
	uint64_t different;
	int rc;

	do {
		rc = reception_receive(w, &r);
		different = 0;
		for (uint32_t i = 0; i < w->messages; i++)
			different += w->column[RECEPTION_COLUMN][i] != w->blank;
		r.target = r.received + w->messages - different;
	} while (!rc && different < w->messages);
	w->counters.received = (int64_t)r.received;
	w->counters.duplicates = (int64_t)(r.received - different) - w->counters.overflows;
	return rc == -EINTR ? 0 : rc;
}

#endif
