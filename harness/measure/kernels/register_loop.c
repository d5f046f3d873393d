/*
 * The loops of `register`. The four stamps of an entry are taken around the two calls, with nothing
 * else in between.
 */
#include "measure/kernels/loop.h"
#include "measure/kernels/register.h"

ALWAYS int register_hold(struct TRANSPORT *t, const enum register_pin pin, const struct memory *m, size_t size,
			 void **handle)
{
	if (pin == REGISTER_CONNECTION)
		return T(set_up)(t, handle);
	if (pin == REGISTER_WITH_DEVICE)
		return T(register_memory)(t, m->data, size, handle);
	return register_lock(m->data, size);
}

ALWAYS int register_drop(struct TRANSPORT *t, const enum register_pin pin, const struct memory *m, size_t size,
			 void *handle)
{
	if (pin == REGISTER_CONNECTION)
		return T(tear_down)(t, handle);
	if (pin == REGISTER_WITH_DEVICE)
		return T(deregister_memory)(t, handle);
	return register_unlock(m->data, size);
}

ALWAYS int register_once(struct worker *w, struct register_side *side, const enum register_pin pin, uint32_t i)
{
	struct TRANSPORT *t = (struct TRANSPORT *)w->transport;
	const struct memory *m = &side->memory;
	const size_t size = (size_t)side->settings->size;
	void *handle = NULL;
	int64_t begin, held;
	int rc;

	begin = T(begin)(t);
	rc = register_hold(t, pin, m, size, &handle);
	held = T(end)(t);
	if (!likely(rc == 0))
		return register_note(side, pin == REGISTER_CONNECTION ? "set up" : "register", rc);
	w->column[REGISTER_T_BEGIN][i] = begin;
	w->column[REGISTER_T_HELD][i] = held;
	begin = T(begin)(t);
	rc = register_drop(t, pin, m, size, handle);
	held = T(end)(t);
	if (!likely(rc == 0))
		return register_note(side, pin == REGISTER_CONNECTION ? "tear down" : "deregister", rc);
	w->column[REGISTER_T_DROP][i] = begin;
	w->column[REGISTER_T_GONE][i] = held;
	return 0;
}

ALWAYS int register_run(struct worker *w, const enum register_pin pin)
{
	struct register_side *side = w->side;
	uint32_t i = 0;
	int rc = 0;

	while (i < w->messages && !atomic_load_explicit(&w->stop, memory_order_relaxed)) {
		rc = register_renew(side);
		if (!rc)
			rc = register_once(w, side, pin, i);
		if (rc)
			break;
		atomic_store_explicit(&w->progress, ++i, memory_order_relaxed);
	}
	w->counters.posted = i;
	return rc;
}

static int register_source(struct worker *w)
{
	const struct register_settings *s = w->settings;

	if (TRANSPORT_CONNECTS && s->pin == REGISTER_CONNECTION)
		return register_run(w, REGISTER_CONNECTION);
	if (TRANSPORT_REGISTERS && s->pin == REGISTER_WITH_DEVICE)
		return register_run(w, REGISTER_WITH_DEVICE);
	return register_run(w, REGISTER_WITH_KERNEL);
}

const struct kernel_loops INSTANCE(register_loops);
const struct kernel_loops INSTANCE(register_loops) = {
    .loop = {[REGISTER_SOURCE] = register_source, [REGISTER_SINK] = sleep_until_stopped}};
