#include "judge/analysis/blocks.h"

#include <string.h>

const struct block *const blocks[] = {
    &pacing_block, &storing_block,  &bandwidth_block, &overhead_block, &processor_block,
    &work_block,   &fairness_block, &causes_block,    &pattern_block,  &stages_block,
    NULL};

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

static const struct block_statistic *row_among(const struct block_statistic *rows, unsigned number)
{
	while (rows && rows->key && rows->number != number)
		rows++;
	return rows && rows->key ? rows : NULL;
}

const struct block_statistic *block_number_row(const struct block *b, unsigned number)
{
	const struct block_statistic *row = row_among(b->statistics, number);

	return row ? row : row_among(b->facts, number);
}
