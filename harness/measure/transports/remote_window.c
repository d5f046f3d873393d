#include "measure/transports/remote_window.h"

#include <errno.h>
#include <stdio.h>

#include "measure/transports/payload.h"

#define LINE	  64
#define UNTOUCHED 0xa5 /* content of memory not written yet, which is not the payload of any message */

/* --- places --- */

/* What reads fetch from a place: a payload that is never sent. */
static uint32_t number_in(uint32_t place)
{
	return ~place;
}

void window_fill(const struct window_places *p)
{
	for (uint32_t i = 0; i < p->count; i++) {
		char *at = p->first + i * p->stride;

		if (p->use == WINDOW_READ)
			payload_fill(at, p->size, number_in(i));
		else
			memset(at, p->use == WINDOW_CHANGED ? 0 : UNTOUCHED, p->size);
	}
}

/* The number of operations, of `posted`, on a place, if each one uses the next. */
static uint64_t operations_on(const struct window_places *p, uint32_t place, uint64_t posted)
{
	return posted > place ? (posted - place - 1) / p->count + 1 : 0;
}

static bool is_right(const struct window_places *p, uint32_t place, uint64_t operations)
{
	const char *at = p->first + place * p->stride;

	if (p->use == WINDOW_CHANGED)
		return *(const volatile uint64_t *)(const void *)at == operations;
	if (p->use == WINDOW_READ)
		return payload_is_right(at, p->size, number_in(place));
	if (operations)
		return payload_is_right(at, p->size, (uint32_t)(operations - 1) * p->count + place);
	return (unsigned char)at[0] == UNTOUCHED && !memcmp(at, at + 1, p->size - 1);
}

int64_t window_wrong(const struct window_places *p, uint64_t posted)
{
	int64_t wrong = 0;

	for (uint32_t i = 0; i < p->count; i++)
		wrong += !is_right(p, i, operations_on(p, i, posted));
	return wrong;
}

bool window_fetched(const struct window_places *p, const void *at, uint32_t seq)
{
	if (p->use == WINDOW_CHANGED)
		return *(const uint64_t *)at == seq / p->count;
	return p->use != WINDOW_READ || payload_is_right(at, p->size, number_in(seq & (p->count - 1)));
}

/* --- windows: targets, own buffers, what is sent as a greeting, what arrives as one --- */

static size_t stride_of(const struct transport_config *config)
{
	return ((size_t)config->size + LINE - 1) / LINE * LINE;
}

/* While one message is read, the next one may come. */
static uint32_t count_in_flight(const struct transport_config *config)
{
	return transport_ring_slots(config->depth + 1);
}

/* Without checks, nobody looks at what is written or read, and filling large messages would take long. */
static bool is_looked_at(enum window_use use, const struct transport_config *config)
{
	return use == WINDOW_CHANGED || !config->any_payload;
}

static uint32_t count_places(enum window_use use, const struct transport_config *config)
{
	return is_looked_at(use, config) ? count_in_flight(config) : 1;
}

size_t window_bytes(const struct transport_config *config, enum window_use use)
{
	return 2 * count_places(use, config) * stride_of(config) + (size_t)2 * LINE;
}

/* A place ends at the end of a cache line. */
void window_open(struct window *w, void *memory, const struct transport_config *config, enum window_use use)
{
	const size_t stride = stride_of(config), size = (size_t)config->size;
	char *first = (char *)memory + stride - size;

	*w = (struct window){
	    .target = {first, stride, size, count_places(use, config), use},
	    .is_watched = !config->is_passive,
	    .in_flight = count_in_flight(config),
	};
	w->own = first + w->target.count * stride;
	w->awaited = first;
	memset(memory, 0, window_bytes(config, use));
}

static char *after_places(const struct window *w, char *first)
{
	return first - (w->target.stride - w->target.size) + 2 * w->target.count * w->target.stride;
}

uint64_t *window_greeting(const struct window *w)
{
	return (uint64_t *)(void *)after_places(w, w->target.first);
}

uint64_t *window_greeted(const struct window *w)
{
	return (uint64_t *)(void *)(after_places(w, w->target.first) + LINE);
}

uint64_t window_remote_greeted(const struct window *w)
{
	return w->remote + (uint64_t)((char *)window_greeted(w) - w->target.first);
}

void window_present(const struct window *w, uint64_t theirs)
{
	*window_greeting(w) = theirs;
}

bool window_is_greeted(const struct window *w, uint64_t ours)
{
	return __atomic_load_n(window_greeted(w), __ATOMIC_ACQUIRE) == ours;
}

/* The other side says the next word when the coordinator knows that this one has met it. */
void window_met(const struct window *w)
{
	*window_greeting(w) = 1;
	__atomic_store_n(window_greeted(w), 1, __ATOMIC_RELEASE);
}

/* --- a repetition ends --- */

#define LAST_CALLS 100 /* after which the odd word has left */

/*
 * The word that is sent there twice in a repetition: even, when all operations of this side are complete; and then odd, from
 * the place behind it, when this side knows the same of the other one. Completing an operation may need the other side, which
 * calls its library until it has received the odd word; the odd word's own completion is not awaited.
 */
static uint64_t *farewell(const struct window *w)
{
	return window_greeting(w) + 1;
}

/* Has the other side said as much as this one? It may be ahead, but not in the next repetition. */
static bool other_has_left(const struct window *w)
{
	return __atomic_load_n(window_greeted(w), __ATOMIC_ACQUIRE) >= *farewell(w);
}

int window_part(struct window *w, const struct window_calls *calls, void *transport)
{
	uint64_t *word = farewell(w);
	int rc = w->has_parted ? calls->serve(transport) : calls->say(transport, word);

	w->has_parted |= rc > 0;
	if (rc < 0 || !w->has_parted || !other_has_left(w))
		return rc < 0 ? rc : 0;
	if (*word % 2 == 0) {
		word[1] = *word + 1;
		rc = calls->say_last(transport, &word[1]);
		if (rc > 0)
			*word = word[1];
		return rc < 0 ? rc : 0;
	}
	for (unsigned i = 0; i < LAST_CALLS && rc >= 0; i++)
		rc = calls->serve(transport);
	return rc < 0 ? rc : 1;
}

void window_reach(struct window *w, uint64_t base)
{
	w->remote = base + w->target.stride - w->target.size;
}

int64_t window_check_memory(const struct window *w, const struct transport_config *config, uint64_t posted)
{
	return is_looked_at(w->target.use, config) ? window_wrong(&w->target, posted) : 0;
}

void window_prepare(struct window *w, const struct transport_config *config)
{
	if (w->is_watched)
		return;
	w->posted = w->completed = 0;
	*farewell(w) = (*farewell(w) | 1) + 1;
	w->has_parted = false;
	if (config->role == ROLE_SINK && is_looked_at(w->target.use, config))
		window_fill(&w->target);
}

/* --- what they need --- */

int window_check(const char *api, enum window_use use, const struct transport_config *config, char *why,
		 size_t why_size)
{
	const long long size = (long long)config->size;
	const bool is_watched = !config->is_passive;

	if (config->poll_recv != POLL_BUSY)
		snprintf(why, why_size, "poll %s and api %s: nothing wakes a side whose memory is used; use poll busy",
			 poll_mode_names[config->poll_recv], api);
	else if (is_watched && use != WINDOW_WRITTEN)
		snprintf(why, why_size,
			 "api %s and a kernel that receives: nothing arrives at the sink; use kernel stream", api);
	else if (is_watched && !config->duplex)
		snprintf(why, why_size,
			 "api %s and a kernel that only sends: messages in flight would overwrite each other; use "
			 "kernel pingpong, exchange or stream",
			 api);
	else if (is_watched && size < (long long)WINDOW_TURN + (config->rewrites ? (long long)sizeof(int64_t) : 0))
		snprintf(why, why_size, "size %lld and api %s: %zu bytes of a message hold its number%s", size, api,
			 WINDOW_TURN, config->rewrites ? ", and 8 the stamp of t_send" : "");
	else if (use == WINDOW_CHANGED && size != (long long)sizeof(uint64_t))
		snprintf(why, why_size, "size %lld and api %s: an atomic works on 8 bytes; use size 8B", size, api);
	else
		return 0;
	return -EINVAL;
}

void window_traits(enum window_use use, struct transport_traits *out)
{
	out->is_one_sided = true;
	out->sends = use != WINDOW_READ;
	out->fetches = use != WINDOW_WRITTEN;
	out->overhead = use == WINDOW_WRITTEN ? WINDOW_TURN : 0;
}
