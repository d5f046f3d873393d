/*
 * POSIX shared memory between two processes: a ring of slots with one writer and one reader, both
 * in user space, without system calls if polling is busy. This measures the transfer of cache
 * lines, the physical limit with which all other transports on the machine can be compared.
 *
 * A slot is a multiple of a cache line: {turn, seq} in one 64-bit word, then the payload. The
 * writer fills the payload and then publishes the word; up to 56 bytes travel in a single line. The
 * reader returns slots by incrementing `consumed`, which is the writer's send completion.
 */
#ifndef KBLAT_TRANSPORTS_SHMEM_HOT_H
#define KBLAT_TRANSPORTS_SHMEM_HOT_H

#include <stdatomic.h>
#include <string.h>

#include "measure/instrument/clock.h"
#include "measure/instrument/memory.h"
#include "measure/transports/transport.h"

#define SHMEM_LINE 64

struct shmem_slot {
	_Atomic uint64_t
	    word; /* turn | seq << 32; turns count messages from 1, so that old content of a slot never looks new */
	char payload[];
};

struct shmem_header {
	_Alignas(SHMEM_LINE) _Atomic uint32_t consumed;
	_Alignas(SHMEM_LINE) _Atomic uint32_t recv_sleeps; /* futex: 1 while the reader sleeps */
	_Alignas(SHMEM_LINE) _Atomic uint32_t send_sleeps; /* futex: 1 while the writer's completion thread sleeps */
};

/* A ring in the shared mapping. */
struct shmem_ring {
	struct shmem_header *header;
	char *slots;
};

struct shmem {
	struct transport base;
	enum role role;
	bool duplex;
	uint32_t depth, size, stride;
	struct shmem_ring tx, rx; /* unused ones are NULL */
	uint32_t *seqs;		  /* numbers in flight, by turn modulo depth */
	struct memory buffer;
	char *out; /* in `buffer`: the payload that post copies into a slot, as far from the start of a line as there */
	struct memory map;
	char name[64];			    /* of the object, until the source has unlinked it */
	_Alignas(SHMEM_LINE) uint32_t head; /* messages posted; only used by the posting thread */
	_Alignas(SHMEM_LINE) uint32_t done; /* completions polled; only used by the polling thread */
	_Alignas(SHMEM_LINE) uint32_t tail; /* messages received */
};

extern const struct transport_ops shmem_transport;

/* --- the hot path (transport.h) --- */

/*
 * Memory order, on any machine that implements C11. A message: the payload is stored before its
 * slot's `word` (release), and read after that (acquire), so a reader that sees the turn also sees
 * the payload. A slot that is reused: the payload has been read before `consumed` is incremented
 * (release), and the writer stores the next one in the slot after it has seen that (acquire),
 * because no more messages are in flight than there are slots. Sleeping: the sleeper sets its flag,
 * executes a fence, and checks again; the waker publishes, executes a fence, and checks the flag.
 * Either the sleeper sees what was published, or the waker sees the flag: two sequentially
 * consistent fences, and nothing weaker, rule out that both see the old value. `make memory-order`
 * tries all possible orders.
 */
#define TRANSPORT_POLL_IS_A_LOAD 1
#define TRANSPORT_WAKES		 1

int shmem_sleep(_Atomic uint32_t *flag);
void shmem_wake(_Atomic uint32_t *flag);

static inline int64_t shmem_begin(struct shmem *t)
{
	(void)t;
	return clock_ticks_begin();
}

static inline int64_t shmem_end(struct shmem *t)
{
	(void)t;
	return clock_ticks_end();
}

static inline int64_t shmem_pause(struct shmem *t, int64_t until)
{
	(void)t;
	(void)until;
	cpu_relax();
	return clock_ticks_begin();
}

static inline struct shmem_slot *shmem_slot_at(const struct shmem *t, const struct shmem_ring *r, uint32_t turn)
{
	return (struct shmem_slot *)(r->slots + (size_t)(turn & (t->depth - 1)) * t->stride);
}

static inline void *shmem_send_buffer(struct shmem *t, uint32_t seq)
{
	(void)seq;
	return t->out;
}

static inline int shmem_post(struct shmem *t, uint32_t seq, bool signal)
{
	struct shmem_slot *slot = shmem_slot_at(t, &t->tx, t->head);

	(void)signal; /* the reader reports all messages by one counter, so skipping some would save nothing */
	t->seqs[t->head & (t->depth - 1)] = seq;
	memcpy(slot->payload, t->out, t->size);
	t->head++;
	atomic_store_explicit(&slot->word, t->head | (uint64_t)seq << 32, memory_order_release);
	return 0;
}

#define TRANSPORT_POSTS_EMPTY 1

static inline int shmem_post_empty(struct shmem *t, uint32_t seq, bool signal)
{
	struct shmem_slot *slot = shmem_slot_at(t, &t->tx, t->head);

	(void)signal;
	t->seqs[t->head & (t->depth - 1)] = seq;
	t->head++;
	atomic_store_explicit(&slot->word, t->head | (uint64_t)seq << 32, memory_order_release);
	return 0;
}

static inline int shmem_poll_send(struct shmem *t, uint32_t *seq)
{
	if (atomic_load_explicit(&t->tx.header->consumed, memory_order_acquire) == t->done)
		return 0;
	*seq = t->seqs[t->done & (t->depth - 1)];
	t->done++;
	return 1;
}

#define TRANSPORT_POLLS_MANY 1

/* Everything that the reader has returned. */
static inline int shmem_poll_sends(struct shmem *t, uint32_t *seq)
{
	const uint32_t consumed = atomic_load_explicit(&t->tx.header->consumed, memory_order_acquire);
	const uint32_t count = consumed - t->done;

	if (!count)
		return 0;
	*seq = t->seqs[(consumed - 1) & (t->depth - 1)];
	t->done = consumed;
	return (int)count;
}

static inline int shmem_poll_recv(struct shmem *t, uint32_t *seq)
{
	uint64_t word = atomic_load_explicit(&shmem_slot_at(t, &t->rx, t->tail)->word, memory_order_acquire);

	if ((uint32_t)word != t->tail + 1)
		return 0;
	*seq = (uint32_t)(word >> 32);
	return 1;
}

static inline const void *shmem_recv_buffer(struct shmem *t)
{
	return shmem_slot_at(t, &t->rx, t->tail)->payload;
}

static inline int shmem_release(struct shmem *t)
{
	t->tail++;
	atomic_store_explicit(&t->rx.header->consumed, t->tail, memory_order_release);
	return 0;
}

/* To be called after publishing. */
static inline void shmem_wake_sleeper(_Atomic uint32_t *flag)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(flag, memory_order_relaxed))
		shmem_wake(flag);
}

static inline void shmem_wake_recv(struct shmem *t)
{
	shmem_wake_sleeper(&t->tx.header->recv_sleeps);
}

static inline void shmem_wake_send(struct shmem *t)
{
	shmem_wake_sleeper(&t->rx.header->send_sleeps);
}

/* To be called before the last check: anything published after it wakes this thread up. */
static inline void shmem_announce_sleep(_Atomic uint32_t *flag)
{
	atomic_store_explicit(flag, 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
}

static inline int shmem_wait_recv(struct shmem *t)
{
	uint32_t seq;

	shmem_announce_sleep(&t->rx.header->recv_sleeps);
	if (shmem_poll_recv(t, &seq)) {
		atomic_store(&t->rx.header->recv_sleeps, 0);
		return 0;
	}
	return shmem_sleep(&t->rx.header->recv_sleeps);
}

static inline int shmem_wait_send(struct shmem *t)
{
	shmem_announce_sleep(&t->tx.header->send_sleeps);
	if (atomic_load_explicit(&t->tx.header->consumed, memory_order_acquire) != t->done) {
		atomic_store(&t->tx.header->send_sleeps, 0);
		return 0;
	}
	return shmem_sleep(&t->tx.header->send_sleeps);
}

#endif
