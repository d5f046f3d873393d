/*
 * What transports have in common whose messages are plain bytes (sockets, message libraries).
 *
 * On the wire a message has `size` bytes, including the number, so that sizes are comparable with
 * those of other tools. Its first four bytes, little-endian, are the number: the sequence number in
 * the low 30 bits (a repetition has at most 10^9 messages), and the repetition modulo 4 in the
 * other two. So messages left over from an earlier repetition are recognised and ignored. The
 * payload begins on a cache line.
 *
 * A message is complete when post returns, because the library or the kernel has a copy. poll_send
 * returns the last one posted.
 *
 * FRAMES_HOT_OPS are the functions of the hot path that are common; post, poll_recv and wait_recv
 * remain to be written. One thread posts and polls.
 */
#ifndef KBLAT_TRANSPORTS_FRAMES_H
#define KBLAT_TRANSPORTS_FRAMES_H

#include <endian.h>
#include <string.h>

#include "measure/instrument/clock.h"
#include "measure/instrument/memory.h"
#include "measure/transports/transport.h"

#define FRAMES_NUMBER	(sizeof(uint32_t)) /* size of the number in a message */
#define FRAMES_SEQ_BITS 30
#define FRAMES_SEQ_MASK ((1u << FRAMES_SEQ_BITS) - 1)

struct frames {
	char *out, *in; /* the message to send, and the one being received: `size` bytes, beginning with the number */
	size_t size;
	size_t part;	     /* bytes already sent of a message, if a post could not continue */
	uint32_t repetition; /* in the two highest bits */
	uint32_t sent;	     /* the last message posted */
	bool is_sent;	     /* poll_send has not returned it yet */
	bool spins;	     /* if a post cannot continue: spin rather than sleep */
	const atomic_int *stop;
	uint64_t stragglers; /* messages of earlier repetitions that were ignored */
	uint64_t waits;	     /* posts that had to wait */
	struct {
		int rc; /* 0: none */
		const char *operation, *hint;
	} fault;
	struct memory out_memory, in_memory;
};

/* Allocate buffers for sending and receiving. Also fills in `base`. On failure nothing is left behind. */
int frames_open(struct frames *f, struct transport *base, const struct transport_config *config, struct err *e);
void frames_close(struct frames *f);

/* The same without buffers, for messages that lie elsewhere: sets the size and how to wait. */
void frames_begin(struct frames *f, const struct transport_config *config);

/* From now on only messages of the next repetition count. */
void frames_next_repetition(struct frames *f);

/* Can a message of the point's size hold its number, and the stamp of t_send if that is asked for?
 * See transport_ops.check. */
int frames_check(const struct transport_config *config, char *why, size_t why_size);

/* Cold: record the first error. Returns `rc`, which is negative. `hint` may be NULL. */
int frames_note(struct frames *f, int rc, const char *operation, const char *hint);

/* Report the recorded error, as in transport_ops.failure; `object` is what it concerns. 0 if there was none. */
int frames_failure(const struct frames *f, const char *object, struct err *e);

/* {"late_messages", "full_buffers"}, for transport_ops.device_counters. */
json_t *frames_counters(const struct frames *f);

/* Cold: a post cannot continue. Waits for a while until `fd` reports `events` (-1: just waits); -EINTR: stop. */
int frames_wait_to_send(struct frames *f, int fd, short events, uint32_t *rounds);

/* For libraries whose descriptor reports only what comes after they were asked: sleep until a message may be sent, as
 * frames_wait_to_send() does, or until one may have come. `may_sleep` is the library's answer: 1: the descriptor will report,
 * 0: look once more, or a negative errno. */
int frames_sleep_to_send(struct frames *f, int fd, int may_sleep, uint32_t *rounds);
int frames_sleep_to_receive(struct frames *f, int fd, int may_sleep);

/* For libraries that deliver into memory of ours: a ring of slots, each with a message that was received and not read
 * yet. How many there should be (a power of two), their memory, and where the message of one begins. */
uint32_t frames_slots(const struct transport_config *config);
int frames_slot_memory(const struct frames *f, struct memory *m, uint32_t slots, const struct transport_config *config,
		       struct err *e);
char *frames_slot(const struct frames *f, const struct memory *m, uint32_t i);

/* A message each way, so that everything is connected before anything is measured. `greet` posts (1: it is on its way),
 * `be_greeted` looks for a message; both are called until they return 1. `greeting`: the message to be sent; NULL:
 * memory of its own. */
int frames_meet(struct frames *f, char *greeting, int (*greet)(void *), int (*be_greeted)(void *), void *transport);

static inline bool frames_unlikely(bool x)
{
	return __builtin_expect(x, 0);
}

static inline bool frames_must_stop(const struct frames *f)
{
	return f->stop && atomic_load_explicit(f->stop, memory_order_relaxed);
}

static inline void frames_put_number(struct frames *f, uint32_t seq)
{
	const uint32_t number = htole32(seq | f->repetition);

	memcpy(f->out, &number, sizeof(number));
}

static inline void frames_posted(struct frames *f, uint32_t seq)
{
	f->sent = seq;
	f->is_sent = true;
}

static inline int frames_poll_send(struct frames *f, uint32_t *seq)
{
	if (!f->is_sent)
		return 0;
	f->is_sent = false;
	*seq = f->sent;
	return 1;
}

/* `in` contains a complete message: returns 1 and its number, or 0 if it belongs to an earlier repetition. */
static inline int frames_take_number(struct frames *f, uint32_t *seq)
{
	uint32_t number;

	memcpy(&number, f->in, sizeof(number));
	number = le32toh(number);
	*seq = number & FRAMES_SEQ_MASK;
	if (frames_unlikely((number & ~FRAMES_SEQ_MASK) != f->repetition)) {
		f->stragglers++;
		return 0;
	}
	return 1;
}

/* The functions that only read the clock; for transports that write the others themselves. */
#define FRAMES_CLOCK(name)                                                                                             \
	static inline int64_t name##_begin(struct name *t)                                                             \
	{                                                                                                              \
		(void)t;                                                                                               \
		return clock_ticks_begin();                                                                            \
	}                                                                                                              \
	static inline int64_t name##_end(struct name *t)                                                               \
	{                                                                                                              \
		(void)t;                                                                                               \
		return clock_ticks_end();                                                                              \
	}                                                                                                              \
	static inline int64_t name##_pause(struct name *t, int64_t until)                                              \
	{                                                                                                              \
		(void)t;                                                                                               \
		(void)until;                                                                                           \
		cpu_relax();                                                                                           \
		return clock_ticks_begin();                                                                            \
	}

/* Likewise those about buffers: the message to send is in `out`, the one received last in `in`. */
#define FRAMES_BUFFERS(name)                                                                                           \
	static inline void *name##_send_buffer(struct name *t, uint32_t seq)                                           \
	{                                                                                                              \
		(void)seq;                                                                                             \
		return t->frames.out + FRAMES_NUMBER;                                                                  \
	}                                                                                                              \
	static inline const void *name##_recv_buffer(struct name *t)                                                   \
	{                                                                                                              \
		return t->frames.in + FRAMES_NUMBER;                                                                   \
	}                                                                                                              \
	static inline int name##_release(struct name *t)                                                               \
	{                                                                                                              \
		(void)t;                                                                                               \
		return 0;                                                                                              \
	}                                                                                                              \
	static inline int name##_wait_send(struct name *t)                                                             \
	{                                                                                                              \
		(void)t;                                                                                               \
		return 0;                                                                                              \
	}

/* For transport_ops, of a transport whose struct begins as struct framed does: the message to send is in `out`, the one
 * received last in `in`. */
#define FRAMES_HOT_OPS                                                                                                 \
	.send_buffer = frames_send_buffer, .poll_send = frames_poll_posted, .recv_buffer = frames_recv_buffer

struct framed {
	struct transport base;
	struct frames frames;
};

void *frames_send_buffer(struct transport *transport, uint32_t seq);
int frames_poll_posted(struct transport *transport, uint32_t *seq);
const void *frames_recv_buffer(struct transport *transport);

#endif
