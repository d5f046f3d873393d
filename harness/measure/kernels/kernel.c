#include "measure/kernels/kernel.h"

#include <string.h>

#include "measure/kernels/kernel_list.h"

const struct kernel_ops *kernel_find(const char *name)
{
	for (size_t i = 0; name && kernels[i]; i++)
		if (!strcmp(kernels[i]->name, name))
			return kernels[i];
	return NULL;
}

const struct kernel_loops *kernel_loops_find(const struct kernel_ops *k, const char *transport)
{
	for (const struct kernel_instance *i = k->instances; i->transport; i++)
		if (!strcmp(i->transport, transport))
			return i->loops;
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

/* --- witnesses --- */

#define NAME(k, t)  k##_loops_##t##_witness
#define LOOPS(k, t) extern const struct kernel_loops NAME(k, t);
#define ROW(k, t)   {#k, #t, &NAME(k, t)},
#define LOOPS_OF(t) WITNESS_KERNELS(LOOPS, t)
#define ROWS_OF(t)  WITNESS_KERNELS(ROW, t)

WITNESS_TRANSPORTS(LOOPS_OF)

const struct kernel_loops *witness_loops_find(const char *kernel, const char *transport)
{
	static const struct {
		const char *kernel, *transport;
		const struct kernel_loops *loops;
	} rows[] = {WITNESS_TRANSPORTS(ROWS_OF)};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(rows[i].kernel, kernel) && !strcmp(rows[i].transport, transport))
			return rows[i].loops;
	return NULL;
}
