#include "measure/point/flow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/or_abort.h"

static int find_parts(struct flow *f, struct err *e)
{
	const char *kernel = json_text(f->params, "kernel"), *transport = json_text(f->params, "transport");

	f->kernel = kernel_find(kernel);
	f->transport = transport_find(transport);
	f->loops = f->kernel && f->transport ? kernel_loops_find(f->kernel, transport) : NULL;
	if (f->loops)
		return 0;
	return err_set(e, -EINVAL, STATUS_USAGE, NULL, NULL, "this kblat has no kernel %s over the transport %s",
		       kernel, transport);
}

/* Members of settings structs have at most 64 bits. */
static int load_table(const struct opt *table, size_t size, const json_t *params, void **settings, struct err *e)
{
	*settings = or_abort(calloc(1, size ? size : 1));
	return opt_load(table, params, *settings, e);
}

/* Determine what is required of the transport, as far as it is the same for both sides. */
static void flow_plan(struct flow *f)
{
	struct transport_config *c = &f->config;

	*c = (struct transport_config){
	    .ops = f->transport, .duplex = f->kernel->duplex, .depth = f->common.depth, .numa_node = -1, .name = ""};
	c->poll_recv = (enum poll_mode)f->common.poll;
	c->poll_send = flow_poll_send(f);
	f->kernel->plan(f->kernel_settings, c);
	c->is_passive &= f->traits.is_one_sided;
	if (f->kernel->adds_overhead)
		c->size += (int64_t)f->traits.overhead;
}

int flow_load(struct flow *f, const char *name, json_t *params, struct err *e)
{
	int rc;

	*f = (struct flow){.params = json_incref(params)};
	snprintf(f->name, sizeof(f->name), "%s", name);
	rc = find_parts(f, e);
	if (!rc)
		rc = opt_load(common_options, params, &f->common, e);
	if (!rc)
		rc = load_table(f->kernel->options, f->kernel->settings_size, params, &f->kernel_settings, e);
	if (!rc)
		rc = load_table(f->transport->options, f->transport->settings_size, params, &f->transport_settings, e);
	if (rc)
		return rc;
	f->traits = transport_traits_of(f->transport, f->transport_settings);
	flow_plan(f);
	return 0;
}

void flow_free(struct flow *f)
{
	json_decref(f->params);
	free(f->kernel_settings);
	free(f->transport_settings);
	*f = (struct flow){.params = NULL};
}

void flow_check(const struct flow *f, void (*complain)(void *arg, const struct flow *f, const char *why), void *arg)
{
	char why[256];

	if (f->kernel->check && f->kernel->check(f->kernel_settings, &f->config, &f->traits, why, sizeof(why)))
		complain(arg, f, why);
	if (f->transport->check && f->transport->check(f->transport_settings, &f->config, why, sizeof(why)))
		complain(arg, f, why);
	if (f->transport->poll_modes & 1u << (f->common.poll == POLL_EVENT ? POLL_EVENT : POLL_BUSY))
		return;
	snprintf(why, sizeof(why), "the transport %s does not support 'poll: %s'", f->transport->name,
		 poll_mode_names[f->common.poll]);
	complain(arg, f, why);
}

bool flow_is_busy(const struct flow *f, enum role side)
{
	if (f->kernel->spins && f->kernel->spins(f->kernel_settings))
		return true;
	/* A side that posts and receives does not have a separate thread for send completions. */
	if (side == ROLE_SINK || f->config.duplex)
		return f->common.poll != POLL_EVENT;
	return settings_poll_send(&f->common) != POLL_EVENT;
}

bool flow_may_wait(const struct flow *f)
{
	return !f->transport->has_own_clock && !f->common.priority;
}

bool flow_starts_together(const struct flow *f)
{
	return f->config.duplex && f->config.is_passive;
}

bool flow_has_column(const struct flow *f, const struct kernel_column *c, enum role side)
{
	return c->side == side && kernel_has(f->kernel, f->kernel_settings, c->with);
}

unsigned flow_columns(const struct flow *f)
{
	unsigned n = 0;

	for (const struct kernel_column *c = f->kernel->columns; c->name; c++)
		n += flow_has_column(f, c, c->side);
	return n;
}

/* The side whose clock stamps a column, which must exist. */
static enum role clock_of(const struct kernel_ops *k, const char *column)
{
	const struct kernel_column *c = k->columns;

	while (c->name && strcmp(c->name, column) != 0)
		c++;
	return c->from_source ? ROLE_SOURCE : c->side;
}

bool flow_crosses(const struct flow *f)
{
	const struct kernel_ops *k = f->kernel;

	for (const struct kernel_series *s = k->series; s->name; s++)
		if (s->minus && kernel_has(k, f->kernel_settings, s->with) &&
		    clock_of(k, s->column) != clock_of(k, s->minus))
			return true;
	return false;
}

uint32_t flow_entries(const struct flow *f, int64_t messages)
{
	const int64_t block = f->config.schedule.block ? f->config.schedule.block : 1;

	return (uint32_t)((messages + block - 1) / block);
}

enum thread_cpu flow_thread_cpu(const struct flow *f, const struct kernel_thread *t)
{
	return t->place ? t->place(f->kernel_settings) : t->cpu;
}

bool flow_has_thread(const struct flow *f, const struct kernel_thread *t, bool control)
{
	const enum thread_cpu cpu = flow_thread_cpu(f, t);

	if (cpu == THREAD_NONE || (t->sleeps && flow_poll_send(f) == POLL_BUSY))
		return false;
	/* No thread can keep up with virtual time, so such a transport itself does the thread's work. */
	if (cpu == THREAD_SPARE && f->transport->has_own_clock)
		return false;
	return kernel_has(f->kernel, f->kernel_settings, t->with) && !(control && t->with);
}

enum poll_mode flow_poll_send(const struct flow *f)
{
	bool can_sleep = f->kernel->source_sleeps;

	for (const struct kernel_thread *t = f->kernel->threads; t->name; t++)
		can_sleep |= t->sleeps;
	return can_sleep && !f->transport->completes_in_post ? settings_poll_send(&f->common) : POLL_BUSY;
}
