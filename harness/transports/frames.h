/*
 * What transports whose messages are bytes and nothing else (sockets, message libraries) have in common.
 *
 * A message is `size` bytes on the way, the number included, so that sizes compare with those of other tools. Its first
 * four bytes, little-endian, are the number: the sequence number in the low 30 bits (a repetition has at most 10^9
 * messages), above it the repetition modulo 4. So what an earlier repetition left on the way is told from this one's and
 * passed over. The payload begins on a cache line.
 *
 * A message is complete when post returns: the library or the kernel has a copy. poll_send tells of the last one posted.
 *
 * FRAMES_HOT(name) defines the functions of the hot path that follow from that, for a transport whose struct has a
 * `struct frames frames`; post, poll_recv and wait_recv remain to be written. One thread posts and polls.
 */
#ifndef KBLAT_TRANSPORTS_FRAMES_H
#define KBLAT_TRANSPORTS_FRAMES_H

#include <endian.h>
#include <string.h>

#include "instrument/clock.h"
#include "instrument/memory.h"
#include "transports/transport.h"

#define FRAMES_NUMBER	(sizeof(uint32_t)) /* bytes of a message that are its number */
#define FRAMES_SEQ_BITS 30
#define FRAMES_SEQ_MASK ((1u << FRAMES_SEQ_BITS) - 1)

struct frames {
	char *out, *in; /* the message to send, the one that is received: `size` bytes, the number first */
	size_t size;
	size_t part;	     /* bytes of the message to send that went, where a post could not go on */
	uint32_t repetition; /* in the two high bits */
	uint32_t sent;	     /* the last message posted, */
	bool is_sent;	     /* which poll_send has not told of yet */
	bool spins;	     /* where a post can't go on at once: spin, or sleep */
	const atomic_int *stop;
	uint64_t stragglers; /* messages of earlier repetitions that were passed over */
	uint64_t waits;	     /* posts that could not go on at once */
	struct {
		int rc; /* 0: none */
		const char *operation, *hint;
	} fault;
	struct memory out_memory, in_memory;
};

/* Buffers for what this side sends and receives. Also fills `base`. On failure nothing is left. */
int frames_open(struct frames *f, struct transport *base, const struct transport_config *config, struct err *e);
void frames_close(struct frames *f);

/* From now on only messages of the next repetition count. */
void frames_next_repetition(struct frames *f);

/* Can a message of the point's size hold its number, and the stamp of t_send where it is asked for? As
 * transport_ops.check. */
int frames_check(const struct transport_config *config, char *why, size_t why_size);

/* Cold: keep the first thing that went wrong. Returns `rc`, negative. `hint` may be NULL. */
int frames_note(struct frames *f, int rc, const char *operation, const char *hint);

/* What was noted, as transport_ops.failure; `object` is what it happened to. 0 if nothing was. */
int frames_failure(const struct frames *f, const char *object, struct err *e);

/* {"late_messages", "full_buffers"}, as transport_ops.device_counters. */
json_t *frames_counters(const struct frames *f);

/* Cold: a post can't go on. Waits a while for `fd` (-1: for nothing in particular) to be writable; -EINTR: stop. */
int frames_wait_to_send(struct frames *f, int fd, uint32_t *rounds);

static inline bool frames_unlikely(bool x)
{
	return __builtin_expect(x, 0);
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

/* A whole message is in `in`: 1 and its number, or 0 if it belongs to an earlier repetition. */
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

#define FRAMES_HOT(name)                                                                                               \
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
	}                                                                                                              \
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
	static inline int name##_poll_send(struct name *t, uint32_t *seq)                                              \
	{                                                                                                              \
		return frames_poll_send(&t->frames, seq);                                                              \
	}                                                                                                              \
	static inline int name##_wait_send(struct name *t)                                                             \
	{                                                                                                              \
		(void)t;                                                                                               \
		return 0;                                                                                              \
	}

#endif
