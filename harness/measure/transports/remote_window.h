/*
 * Memory of one side that operations of the other side work on, without a message: written to, read, or changed by
 * atomics. It consists of places of one message each, which are used in turn; if nobody looks at what is there, it is
 * one place, and one buffer, as in other benchmarks.
 *
 * A read fetches bytes that the owner has put there. Atomics work on a word of 8 bytes, which is 0 at first: the n-th one
 * on a word (from 0) adds 1 and fetches n. So at the end the words add up to the number of atomics posted.
 *
 * struct window is for libraries (ucx, fabric) whose one-sided operations also carry round trips: there the owner watches
 * the last 8 bytes of a place for the message's turn, which counts from 1, and for its number.
 */
#ifndef KBLAT_TRANSPORTS_REMOTE_WINDOW_H
#define KBLAT_TRANSPORTS_REMOTE_WINDOW_H

#include <endian.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "measure/transports/transport.h"

enum window_use { WINDOW_WRITTEN, WINDOW_READ, WINDOW_CHANGED };

struct window_places {
	char *first;
	size_t stride, size;
	uint32_t count; /* a power of two */
	enum window_use use;
};

/* Their content before a repetition; the number of places whose content is wrong after `posted` operations; and whether
 * operation `seq` has fetched the right bytes to `at` (true if it fetches none). */
void window_fill(const struct window_places *p);
int64_t window_wrong(const struct window_places *p, uint64_t posted);
bool window_fetched(const struct window_places *p, const void *at, uint32_t seq);

#define WINDOW_TURN    sizeof(uint64_t)
#define WINDOW_AT_ONCE 32 /* bytes that every copy to memory writes in ascending order */

struct window {
	struct window_places target; /* of this side */
	char *own;	 /* as many buffers, from which this side writes or to which it fetches; NULL: closed */
	uint64_t remote; /* where the other side's places begin */
	bool is_watched;
	uint32_t in_flight; /* how many operations may be; a power of two, at least as many as there are places */
	uint32_t posted, completed; /* in this repetition; watched: since the beginning */
	uint32_t taken;
	char *awaited;	 /* where the next message comes */
	bool has_parted; /* the other side knows that all operations of this one are complete */
};

/* How many bytes a window needs, and where its parts are in them; they must begin on a cache line. */
size_t window_bytes(const struct transport_config *config, enum window_use use);
void window_open(struct window *w, void *memory, const struct transport_config *config, enum window_use use);

/* The address of the other side's window, which it gave as `base`. */
void window_reach(struct window *w, uint64_t base);

/* Before a repetition. */
void window_prepare(struct window *w, const struct transport_config *config);

/* A word with which each side greets the other: where it is sent from, where it arrives, and where that is
 * at the other side. It is one of
 * the other side's token, `theirs`, until both have met; then it is 1. */
uint64_t *window_greeting(const struct window *w);
uint64_t *window_greeted(const struct window *w);
uint64_t window_remote_greeted(const struct window *w);
void window_present(const struct window *w, uint64_t theirs);
bool window_is_greeted(const struct window *w, uint64_t ours);
void window_met(const struct window *w);

/* Calls of a library, with its transport: make progress (0); send a word of the window to where the other side is greeted, and
 * see it arrive (1; 0: call it again); or just send it (1; 0: not now). Or a negative errno. */
struct window_calls {
	int (*serve)(void *transport);
	int (*say)(void *transport, const uint64_t *word);
	int (*say_last)(void *transport, const uint64_t *word);
};

/* Called until it returns 1, by a side whose own operations are complete: the other one does not need it any more. */
int window_part(struct window *w, const struct window_calls *calls, void *transport);

/* See transport_ops.check: what the one-sided `api` of a library needs. */
int window_check(const char *api, enum window_use use, const struct transport_config *config, char *why,
		 size_t why_size);
/* See transport_ops.check_memory. */
int64_t window_check_memory(const struct window *w, const struct transport_config *config, uint64_t posted);
/* The traits of one-sided operations. */
void window_traits(enum window_use use, struct transport_traits *out);

static inline uint32_t window_place(const struct window *w, uint32_t n)
{
	return n & (w->target.count - 1);
}

/* Which of those in flight operation n is. */
static inline uint32_t window_flight(const struct window *w, uint32_t n)
{
	return n & (w->in_flight - 1);
}

/* The buffer of operation n; of the side itself, and where it works at the other side. */
static inline char *window_buffer(const struct window *w, uint32_t n)
{
	return w->own + window_place(w, n) * w->target.stride;
}

static inline uint64_t window_remote(const struct window *w, uint32_t n)
{
	return w->remote + window_place(w, n) * w->target.stride;
}

/* Of the next operation, which is message seq. */
static inline uint32_t window_next(const struct window *w, uint32_t seq)
{
	return w->is_watched ? w->posted : seq;
}

static inline void window_put_turn(const struct window *w, char *buffer, uint32_t seq)
{
	const uint64_t turn = htole64((uint64_t)(w->posted + 1) << 32 | seq);

	memcpy(buffer + w->target.size - WINDOW_TURN, &turn, sizeof(turn));
}

/* The message whose turn it is: its buffer, or NULL. */
static inline char *window_take(struct window *w, uint32_t *seq)
{
	char *at = w->awaited;
	const uint64_t *turn = (const uint64_t *)(const void *)(at + w->target.size - WINDOW_TURN);
	const uint64_t is = le64toh(__atomic_load_n(turn, __ATOMIC_ACQUIRE));

	if ((uint32_t)(is >> 32) != w->taken + 1)
		return NULL;
	w->taken++;
	w->awaited = w->target.first + window_place(w, w->taken) * w->target.stride;
	*seq = (uint32_t)is;
	return at;
}

#endif
