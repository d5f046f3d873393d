#include "transports/verbs_remote.h"

#include <string.h>

#include "transports/payload.h"
#include "transports/verbs_hot.h"

/* Content of memory not written yet, which is not the payload of any message. */
#define UNTOUCHED 0xa5

/* What reads fetch from a slot: a payload that is never sent. */
static uint32_t number_in(uint32_t place)
{
	return ~place;
}

static char *place_at(const struct verbs *t, uint32_t place)
{
	return (char *)t->recv_ring.memory.data + t->recv_ring.lead + place * t->recv_ring.stride;
}

static bool is_target(const struct verbs *t)
{
	return t->config.is_passive && t->recv_ring.slots && t->operation->access;
}

/* Without checks, nobody looks at what is written or read, and filling large messages would take long. */
static bool is_looked_at(const struct verbs *t)
{
	return t->operation->is_atomic || !t->config.any_payload;
}

void verbs_remote_prepare(struct verbs *t)
{
	const size_t size = (size_t)t->config.size;

	if (t->carrier == VERBS_IN_OPERANDS)
		verbs_put_operands(&t->send, 0);
	if (!is_target(t) || !is_looked_at(t))
		return;
	for (uint32_t i = 0; i < t->recv_ring.slots; i++)
		if (t->operation->is_atomic)
			memset(place_at(t, i), 0, size);
		else if (t->operation->fetches)
			payload_fill(place_at(t, i), size, number_in(i));
		else
			memset(place_at(t, i), UNTOUCHED, size);
}

/* The number of messages, of `posted`, that went to a slot, if each one uses the next slot. */
static uint64_t messages_at(const struct verbs *t, uint32_t place, uint64_t posted)
{
	return posted > place ? (posted - place - 1) / t->recv_ring.slots + 1 : 0;
}

static bool is_right(const struct verbs *t, uint32_t place, uint64_t messages)
{
	const size_t size = (size_t)t->config.size;
	const char *at = place_at(t, place);

	if (t->operation->is_atomic)
		return *(const volatile uint64_t *)(const void *)at == messages;
	if (t->operation->fetches)
		return payload_is_right(at, size, number_in(place));
	if (messages)
		return payload_is_right(at, size, (uint32_t)(messages - 1) * t->recv_ring.slots + place);
	return (unsigned char)at[0] == UNTOUCHED && !memcmp(at, at + 1, size - 1);
}

int64_t verbs_check_memory(const struct transport *transport, uint64_t posted)
{
	const struct verbs *t = (const struct verbs *)transport;
	int64_t wrong = 0;

	if (!is_target(t) || !is_looked_at(t))
		return 0;
	for (uint32_t i = 0; i < t->recv_ring.slots; i++)
		wrong += !is_right(t, i, messages_at(t, i, posted));
	return wrong;
}

bool verbs_fetched(const struct verbs *t, uint32_t seq)
{
	const struct verbs_send *s = &t->send;
	const void *at = (const void *)(uintptr_t)(s->first + (seq & s->mask) * s->stride);

	if (t->operation->is_atomic)
		return *(const uint64_t *)at == seq >> s->remote_shift;
	return !t->operation->fetches || payload_is_right(at, (size_t)t->config.size, number_in(seq & s->remote_mask));
}
