#include "tuning/ops/ops.h"

#include <string.h>

#include "tuning/ops/op_affinity.h"
#include "tuning/ops/op_cpuset.h"
#include "tuning/ops/op_drain.h"
#include "tuning/ops/op_file.h"
#include "tuning/ops/op_irq.h"
#include "tuning/ops/op_latency.h"
#include "tuning/ops/op_pause.h"
#include "tuning/ops/op_tuned.h"

static const struct op *const ops[] = {&op_file,     &op_irq,	  &op_cpuset, &op_drain,
				       &op_affinity, &op_latency, &op_pause,  &op_tuned};

const struct op *ops_find(const char *name)
{
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (!strcmp(ops[i]->name, name))
			return ops[i];
	return NULL;
}
