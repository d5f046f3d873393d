#include "measure/kernels/kernel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "measure/kernels/kernel_list.h"

const struct kernel_ops *kernel_find(const char *name)
{
	for (size_t i = 0; name && kernels[i]; i++)
		if (!strcmp(kernels[i]->name, name))
			return kernels[i];
	return NULL;
}

bool kernel_has(const struct kernel_ops *k, const void *settings, const char *with)
{
	const struct opt *row = with ? opt_find(k->options, with) : NULL;

	return !with || (row && *(const bool *)((const char *)settings + row->offset));
}

bool kernel_has_control(const struct kernel_ops *k, const void *settings)
{
	for (const struct kernel_thread *t = k->threads; t->name; t++)
		if (t->with && kernel_has(k, settings, t->with))
			return true;
	return false;
}

/* --- loops --- */

struct row {
	const char *kernel, *transport;
	const struct kernel_loops *loops;
};

#define LOOPS(k, t) extern const struct kernel_loops k##_loops_##t;
#define ROW(k, t)   {#k, #t, &k##_loops_##t},

EVERY_LOOP(LOOPS)
EVERY_GAP_LOOP(LOOPS)

static const struct kernel_loops *find_row(const char *kernel, const char *transport)
{
	static const struct row rows[] = {EVERY_LOOP(ROW) EVERY_GAP_LOOP(ROW)};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(rows[i].kernel, kernel) && !strcmp(rows[i].transport, transport))
			return rows[i].loops;
	return NULL;
}

static bool runs_over(const struct kernel_ops *k, const char *transport)
{
	bool is_named = false;

	for (const char *const *t = k->transports; t && *t; t++)
		is_named |= !strcmp(*t, transport);
	return k->transports ? is_named : strcmp(transport, "none") != 0;
}

const struct kernel_loops *kernel_loops_find(const struct kernel_ops *k, const char *transport)
{
	if (!runs_over(k, transport))
		return NULL;
	return k->loops ? k->loops : find_row(k->name, transport) ?: find_row(k->name, "called");
}

const struct kernel_loops *gap_loops_find(const char *kernel, const char *transport)
{
	char name[32];

	snprintf(name, sizeof(name), "%s_gaps", transport);
	return find_row(kernel, name);
}

int kernel_check_payloads(const struct transport_config *config, const struct transport_traits *traits, char *why,
			  size_t why_size)
{
	if (traits->buffers <= 0 || traits->buffers >= config->depth || traits->copies_payload)
		return 0;
	snprintf(
	    why, why_size,
	    "check and buffers %lld with depth %lld: messages in flight would share a payload; use as many buffers "
	    "as depth, or a smaller depth",
	    (long long)traits->buffers, (long long)config->depth);
	return -EINVAL;
}
