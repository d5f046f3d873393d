/*
 * Sockets by io_uring. What arrives is in buffers that the kernel chose or was given (multishot, plain): over udp each
 * holds one datagram; over tcp, messages are cut out of them. A message is sent from a slot of its own, which is free
 * again when the kernel has reported it complete. The result of a message is awaited before the next one is submitted,
 * because the kernel may otherwise send what is short later than what follows it.
 *
 * A ring belongs to the thread that submits first, and is made anew for each repetition. Busy: each poll is a request
 * that only takes what is there, because a request that waits in the kernel has to be woken up, which costs more than
 * receiving; with multishot and sqpoll, a load of the completion ring, and a system call when the kernel says that it has
 * work to do. Event: io_uring_enter(2). One thread posts and polls.
 */
#ifndef KBLAT_TRANSPORTS_URING_HOT_H
#define KBLAT_TRANSPORTS_URING_HOT_H

#include <liburing.h>

#include "measure/transports/uring_settings.h"

#define URING_ALIGN 64 /* payloads begin on cache lines */

/* A message that is being sent. */
struct uring_slot {
	uint32_t seq;
	uint32_t length;  /* of the message */
	uint32_t sent;	  /* bytes of it that the kernel has accepted */
	uint32_t pending; /* completions that the kernel still owes */
};

/* What has arrived and has not been looked at. */
struct uring_arrival {
	int32_t size;
	uint32_t buffer;
};

struct uring {
	SOCKET_TRANSPORT;
	struct uring_settings settings;
	struct io_uring ring;
	bool has_ring;
	bool is_unsubmitted; /* a request waits for the next system call */
	bool tries;	     /* a request to receive does not wait */
	bool sleeps;	     /* the receiver sleeps after each look */
	pid_t user;	     /* the thread that uses the ring; 0: none yet */
	struct memory memory;
	size_t stride; /* of a buffer and of a slot */

	char *slots;
	struct uring_slot *slot;
	uint32_t slot_mask;
	uint32_t head;	   /* messages posted, modulo 2^32 */
	uint32_t results;  /* of them, those that were sent */
	uint32_t complete; /* of them, those whose slots are free; poll_send has returned these */

	char *buffers;
	struct io_uring_buf_ring *provided; /* multishot */
	uint32_t buffer_count;
	struct uring_arrival *arrival;
	uint32_t arrival_mask, arrived, looked_at;
	bool is_armed; /* the kernel has a request to receive */

	bool has_chunk; /* `chunk` is the buffer that is being looked at */
	uint32_t chunk;
	char *next; /* tcp: bytes of it that are left */
	size_t left;
	char *pieces; /* tcp: a message that arrived in pieces, and its size so far */
	size_t got;
};

extern const struct transport_ops uring_transport;

/* --- the hot path (transport.h) --- */

#define TRANSPORT_POST_IS_A_SYSCALL
#define TRANSPORT_POST_WAITS 1

FRAMES_CLOCK(uring)

/* Cold or dominated by a system call. Those that return an int return 0 or the recorded error. */
int uring_take(struct uring *t, const struct io_uring_cqe *cqe);
int uring_ask(struct uring *t); /* nothing has arrived: see to it that something can */
int uring_submit(struct uring *t);
int uring_send(struct uring *t, uint32_t slot);		   /* the rest of that slot */
int uring_wait_to_post(struct uring *t, uint32_t *rounds); /* -EINTR: stop */
int uring_next(struct uring *t, uint32_t *seq);		   /* like poll_recv, of what has arrived */
void uring_recycle(struct uring *t);			   /* the chunk's buffer may be received into */
int uring_wait_recv(struct uring *t);

static inline bool uring_has_arrived(const struct uring *t)
{
	return t->left || t->arrived != t->looked_at;
}

/*
 * Take what is complete; `to_message`: up to the first message, as a look at an empty ring enters the kernel if that has
 * more to say.
 */
static inline int uring_reap(struct uring *t, bool to_message)
{
	struct io_uring_cqe *cqe;
	int rc = 0;

	while (!rc && !(to_message && uring_has_arrived(t)) && !io_uring_peek_cqe(&t->ring, &cqe)) {
		rc = uring_take(t, cqe);
		io_uring_cqe_seen(&t->ring, cqe);
	}
	return rc;
}

static inline void *uring_send_buffer(struct uring *t, uint32_t seq)
{
	(void)seq;
	return t->slots + (t->head & t->slot_mask) * t->stride + URING_ALIGN;
}

static inline int uring_post_try(struct uring *t, uint32_t seq, bool signal)
{
	const uint32_t at = t->head & t->slot_mask;
	int rc = t->head != t->results ? uring_reap(t, false) : 0;

	(void)signal;
	if (frames_unlikely(rc))
		return rc;
	if (frames_unlikely(t->head != t->results || t->slot[at].pending))
		return 0;
	t->frames.out = t->slots + at * t->stride + URING_ALIGN - FRAMES_NUMBER;
	frames_put_number(&t->frames, seq);
	t->slot[at] = (struct uring_slot){.seq = seq, .length = (uint32_t)t->frames.size};
	t->head++;
	rc = uring_send(t, at);
	return rc ? rc : 1;
}

static inline int uring_post(struct uring *t, uint32_t seq, bool signal)
{
	uint32_t rounds = 0;
	int rc;

	while (!(rc = uring_post_try(t, seq, signal))) {
		rc = uring_wait_to_post(t, &rounds);
		if (rc)
			return rc;
	}
	return rc < 0 ? rc : 0;
}

static inline int uring_poll_send(struct uring *t, uint32_t *seq)
{
	int rc;

	if (t->complete == t->head)
		return 0;
	rc = uring_reap(t, false);
	/* Those whose slots have been used again are complete. */
	if (t->results - t->complete > t->slot_mask + 1)
		t->complete = t->results - t->slot_mask - 1;
	if (rc || t->complete == t->results || t->slot[t->complete & t->slot_mask].pending)
		return rc;
	*seq = t->slot[t->complete++ & t->slot_mask].seq;
	return 1;
}

/* Never called, as the thread that posts does not sleep until a message is complete. */
static inline int uring_wait_send(struct uring *t)
{
	(void)t;
	return 0;
}

static inline int uring_poll_recv(struct uring *t, uint32_t *seq)
{
	int rc = uring_reap(t, true);

	if (!rc && !uring_has_arrived(t) && (!t->is_armed || t->is_unsubmitted))
		rc = uring_ask(t);
	return rc || !uring_has_arrived(t) ? rc : uring_next(t, seq);
}

static inline const void *uring_recv_buffer(struct uring *t)
{
	return t->frames.in + FRAMES_NUMBER;
}

static inline int uring_release(struct uring *t)
{
	if (t->has_chunk && !t->left)
		uring_recycle(t);
	return 0;
}

#endif
