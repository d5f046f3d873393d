#include "analysis/blocks.h"

#include <string.h>

#include "analysis/bandwidth.h"
#include "analysis/causes.h"
#include "analysis/fairness.h"
#include "analysis/overhead.h"
#include "analysis/pacing.h"
#include "analysis/pattern.h"
#include "analysis/processor.h"
#include "analysis/storing.h"

const struct block *const blocks[] = {&pacing_block,   &storing_block,	 &bandwidth_block,
				      &overhead_block, &processor_block, &fairness_block,
				      &causes_block,   &pattern_block,	 NULL};

const struct block *block_find(const char *name)
{
	for (size_t i = 0; blocks[i]; i++)
		if (!strcmp(blocks[i]->name, name))
			return blocks[i];
	return NULL;
}

const struct block_statistic *block_statistic_find(const struct block *b, const char *key)
{
	for (const struct block_statistic *s = b->statistics; s->key; s++)
		if (!strcmp(s->key, key))
			return s;
	return NULL;
}
