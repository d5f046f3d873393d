/*
 * Messages that are written to memory: what happens if the next slot does not contain the expected
 * message. Usually it still contains the previous one, and the only thing to do is to check whether
 * the device has failed, because no completion would report that.
 */
#include "transports/verbs_memory.h"

#include <errno.h>

#include "transports/verbs_failure.h"
#include "transports/verbs_hot.h"

static uint32_t turn_in(const struct verbs_recv *r, uint32_t slot)
{
	const uint64_t *at = (const uint64_t *)(uintptr_t)(r->first + (slot & r->mask) * r->stride + r->turn);

	return (uint32_t)(le64toh(__atomic_load_n(at, __ATOMIC_ACQUIRE)) >> 32);
}

/* How far a turn is ahead of the expected one; 0 or less: it is the expected one, or an old one. A
 * half-written turn is never ahead, because its lower bytes are written first. */
static int32_t ahead(const struct verbs_recv *r, uint32_t turn)
{
	return (int32_t)(turn - (r->taken + 1));
}

/* Messages arrive in order or not at all, so the earliest one that has arrived is next. */
static void skip_lost(struct verbs_recv *r)
{
	int32_t nearest = 0;

	for (uint32_t slot = 0; slot <= r->mask; slot++) {
		int32_t distance = ahead(r, turn_in(r, slot));

		/* It arrived after its slot was checked, and before the later one was seen. */
		if (distance == 0)
			return;
		if (distance > 0 && (!nearest || distance < nearest))
			nearest = distance;
	}
	r->taken += (uint32_t)nearest;
}

int verbs_other_turn(struct verbs *t, uint32_t turn)
{
	struct verbs_recv *r = &t->recv;

	if (verbs_unlikely(atomic_load_explicit(&t->watch.event, memory_order_relaxed)))
		return -EIO;
	if (!r->may_lose && ahead(r, turn) > 0)
		return verbs_note(&r->fault, EOVERFLOW, "take message", r->taken);
	if (r->may_lose && (ahead(r, turn) > 0 || ahead(r, turn_in(r, ++r->probe)) > 0))
		skip_lost(r);
	return 0;
}
