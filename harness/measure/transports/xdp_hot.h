/* The hot path of xdp; transport.h describes the functions. */
#ifndef KBLAT_TRANSPORTS_XDP_HOT_H
#define KBLAT_TRANSPORTS_XDP_HOT_H

#include "measure/transports/xdp_types.h"

#define TRANSPORT_POST_IS_A_SYSCALL

/* Cold: tell the kernel that there are frames to send. 0 or the recorded error. */
int xdp_kick(struct xdp *t);

/* Cold: let the kernel look for received frames. */
void xdp_nudge(struct xdp *t);

/* Cold: a frame that has not the length of a message. Returns the same as poll_recv. */
int xdp_recv_other(struct xdp *t, uint32_t length, uint32_t *seq);

/* Cold: write the headers of a message with or without payload. */
void xdp_write_headers(struct xdp *t, uint64_t chunk, bool is_empty);

FRAMES_CLOCK(xdp)

static inline uint64_t xdp_next_chunk(const struct xdp *t)
{
	return t->free[t->head & t->tx.mask];
}

static inline void *xdp_send_buffer(struct xdp *t, uint32_t seq)
{
	(void)seq;
	return t->umem + xdp_next_chunk(t) + XDP_ROOM + XDP_NUMBER + FRAMES_NUMBER;
}

/* Enter a message in the ring; the kernel does not see it yet. */
static inline void xdp_enter(struct xdp *t, uint32_t seq, uint32_t length)
{
	const uint32_t at = t->head & t->tx.mask;
	const uint64_t frame = t->free[at] + XDP_ROOM;

	t->frames.out = t->umem + frame + XDP_NUMBER;
	frames_put_number(&t->frames, seq);
	((struct xdp_desc *)t->tx.entries)[at] = (struct xdp_desc){.addr = frame, .len = length};
	t->seqs[at] = seq;
	t->head++;
}

static inline int xdp_publish(struct xdp *t)
{
	atomic_store_explicit(t->tx.producer, t->head, memory_order_release);
	if (t->kicks_always || atomic_load_explicit(t->tx.flags, memory_order_relaxed) & XDP_RING_NEED_WAKEUP)
		return xdp_kick(t);
	return 0;
}

static inline int xdp_post(struct xdp *t, uint32_t seq, bool signal)
{
	(void)signal;
	if (frames_unlikely(t->acknowledges))
		xdp_write_headers(t, xdp_next_chunk(t), false);
	xdp_enter(t, seq, t->out_length);
	return xdp_publish(t);
}

#define TRANSPORT_POSTS_EMPTY 1

static inline int xdp_post_empty(struct xdp *t, uint32_t seq, bool signal)
{
	(void)signal;
	xdp_write_headers(t, xdp_next_chunk(t), true);
	xdp_enter(t, seq, XDP_NUMBER + FRAMES_NUMBER);
	return xdp_publish(t);
}

#define TRANSPORT_LISTS 1

static inline int xdp_post_more(struct xdp *t, uint32_t seq, bool signal)
{
	(void)signal;
	xdp_enter(t, seq, t->out_length);
	return 0;
}

static inline int xdp_flush(struct xdp *t)
{
	return xdp_publish(t);
}

#define TRANSPORT_POLLS_MANY 1

static inline int xdp_poll_sends(struct xdp *t, uint32_t *seq)
{
	const uint32_t there = atomic_load_explicit(t->completion.producer, memory_order_acquire);
	const uint32_t count = there - t->completed;
	const uint64_t *chunks = t->completion.entries;

	if (!count)
		return frames_unlikely(t->must_kick) ? xdp_kick(t) : 0;
	for (; t->completed != there; t->completed++)
		t->free[t->done++ & t->tx.mask] = chunks[t->completed & t->completion.mask] & ~(uint64_t)(t->chunk - 1);
	atomic_store_explicit(t->completion.consumer, there, memory_order_release);
	*seq = t->seqs[(t->done - 1) & t->tx.mask];
	return (int)count;
}

static inline int xdp_poll_send(struct xdp *t, uint32_t *seq)
{
	const uint64_t *chunks = t->completion.entries;

	if (atomic_load_explicit(t->completion.producer, memory_order_acquire) == t->completed)
		return frames_unlikely(t->must_kick) ? xdp_kick(t) : 0;
	*seq = t->seqs[t->done & t->tx.mask];
	t->free[t->done++ & t->tx.mask] = chunks[t->completed & t->completion.mask] & ~(uint64_t)(t->chunk - 1);
	atomic_store_explicit(t->completion.consumer, ++t->completed, memory_order_release);
	return 1;
}

/* Return the frame received last to the kernel. */
static inline int xdp_release(struct xdp *t)
{
	const uint64_t frame = ((const struct xdp_desc *)t->rx.entries)[t->taken & t->rx.mask].addr;

	((uint64_t *)t->fill.entries)[t->filled & t->fill.mask] = frame & ~(uint64_t)(t->chunk - 1);
	atomic_store_explicit(t->fill.producer, ++t->filled, memory_order_release);
	atomic_store_explicit(t->rx.consumer, ++t->taken, memory_order_release);
	return 0;
}

static inline int xdp_poll_recv(struct xdp *t, uint32_t *seq)
{
	const struct xdp_desc *frame = &((const struct xdp_desc *)t->rx.entries)[t->taken & t->rx.mask];

	if (atomic_load_explicit(t->rx.producer, memory_order_acquire) == t->taken) {
		if (t->nudges)
			xdp_nudge(t);
		return 0;
	}
	t->frames.in = t->umem + frame->addr + XDP_NUMBER;
	if (frames_unlikely(frame->len != t->in_length))
		return xdp_recv_other(t, frame->len, seq);
	if (frames_take_number(&t->frames, seq))
		return 1;
	return xdp_release(t);
}

static inline const void *xdp_recv_buffer(struct xdp *t)
{
	return t->frames.in + FRAMES_NUMBER;
}

int xdp_wait_recv(struct xdp *t);
int xdp_wait_send(struct xdp *t);

#endif
