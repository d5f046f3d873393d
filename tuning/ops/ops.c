#include "tuning/ops/ops.h"

#include <string.h>

static const struct op *const ops[] = {&op_file, &op_irq,     &op_cpuset, &op_drain, &op_affinity,
				       &op_card, &op_latency, &op_pause,  &op_tuned, &op_bind};

const struct op *ops_find(const char *name)
{
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (!strcmp(ops[i]->name, name))
			return ops[i];
	return NULL;
}
