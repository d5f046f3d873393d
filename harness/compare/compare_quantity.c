#include "compare/compare_quantity.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/param.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "rundir/flows.h"

static bool is_comparable(const struct block *b)
{
	for (const struct block_statistic *s = b->statistics; s->key; s++)
		if (s->worse)
			return true;
	return false;
}

const struct block *compare_quantity_block(const char *metric)
{
	const struct block *block = metric ? block_find(flows_bare_key(metric)) : NULL;

	return block && is_comparable(block) ? block : NULL;
}

/* For rates ("x_hz") less is worse; for times, more. */
static bool is_rate(const char *metric)
{
	char name[32];

	return metric && param_name_unit(metric, name, sizeof(name)) == UNIT_RATE_HZ;
}

static void add_quantity(struct compare_quantity **list, size_t *count, struct compare_quantity q)
{
	*list = grow_or_abort(*list, *count, sizeof(**list));
	(*list)[(*count)++] = q;
}

struct compare_quantity *compare_quantity_list(const char *metric, size_t *count)
{
	const struct block *block = compare_quantity_block(metric);
	struct compare_quantity *list = NULL;

	*count = 0;
	for (const struct block_statistic *s = block ? block->statistics : NULL; s && s->key; s++)
		if (s->worse)
			add_quantity(&list, count,
				     (struct compare_quantity){s->key, s->label, s->measure, 1, s->worse < 0});
	for (size_t i = 0; !block && i < STATISTICS; i++)
		if (statistics[i].weight > 0)
			add_quantity(&list, count,
				     (struct compare_quantity){statistics[i].key, statistics[i].label,
							       statistics[i].measure, statistics[i].weight,
							       is_rate(metric)});
	return list;
}

char *compare_quantity_split(const char *metric, const char **quantity)
{
	const char *dot = metric ? strrchr(metric, '.') : NULL;
	char *block = dot && !compare_quantity_block(metric) ? strndup(metric, (size_t)(dot - metric)) : NULL;

	if (block && !compare_quantity_block(block)) {
		free(block);
		block = NULL;
	}
	if (block)
		*quantity = dot + 1;
	return block;
}

/* People write "p99.9", but "over_limit". */
static const char *written_name(const struct compare_quantity *q)
{
	return q->measure == MEASURE_SERIES ? q->label : q->key;
}

char *compare_quantity_names(const char *metric, const char *last)
{
	size_t count;
	struct compare_quantity *list = compare_quantity_list(metric, &count);
	char *names = fs_path("%s", "");

	for (size_t i = 0; i < count; i++) {
		char *longer = fs_path("%s%s%s", names, !i ? "" : i + 1 < count ? ", " : last, written_name(&list[i]));

		free(names);
		names = longer;
	}
	free(list);
	return names;
}

int compare_quantity_find(const char *flag, const char *metric, const char *name, const char **key, struct err *e)
{
	size_t count;
	struct compare_quantity *list = compare_quantity_list(metric, &count);
	char *names = compare_quantity_names(metric, ", ");
	int rc;

	*key = NULL;
	for (size_t i = 0; i < count; i++)
		if (!strcmp(list[i].key, name) || !strcmp(written_name(&list[i]), name))
			*key = list[i].key;
	rc = *key ? 0 : err_set(e, -EINVAL, STATUS_USAGE, flag, NULL, "must be one of %s, not '%s'", names, name);
	free(names);
	free(list);
	return rc;
}

const char *compare_quantity_label(const char *key)
{
	for (size_t i = 0; blocks[i]; i++) {
		const struct block_statistic *s = block_statistic_find(blocks[i], key);

		if (s)
			return s->label;
	}
	return statistic_label(key);
}

const char *compare_quantity_unit(const struct compare_quantity *q, const char *metric)
{
	static const char *const units[] = {
	    [MEASURE_SHARE] = "share",	     [MEASURE_COUNT] = "", [MEASURE_RATE] = "hz", [MEASURE_BYTES] = "bytes",
	    [MEASURE_BYTE_RATE] = "bytes/s", [MEASURE_RATIO] = ""};
	const char *tail = strrchr(metric, '_');

	if (q->measure == MEASURE_SERIES)
		return tail ? tail + 1 : "";
	return units[q->measure];
}

const char *compare_quantity_rounded(double value, char *text, size_t size)
{
	snprintf(text, size, fabs(value) < 99.5 ? "%.2g" : "%.0f", value);
	return text;
}
