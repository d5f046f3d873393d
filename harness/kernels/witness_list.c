#include "kernels/witness_list.h"

#include <stddef.h>
#include <string.h>

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
