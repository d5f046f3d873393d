#include "analysis/summary_csv.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/blocks.h"
#include "common/csv.h"
#include "common/or_abort.h"
#include "rundir/flows.h"

/* What the rows of a run have in common. */
struct csv {
	FILE *out;
	/* of all points, in order of appearance: the keys of an object with null values */
	json_t *settings;
	bool has[STATISTICS];	     /* old runs may not have all of them */
	bool has_clock_error;	     /* of two hosts */
	const struct block **blocks; /* blocks that any point has; ends with NULL */
};

/* Missing values and null are empty. */
static void csv_value(const json_t *value, FILE *out)
{
	char *text;

	if (json_is_string(value))
		csv_text(json_string_value(value), out);
	if (!value || json_is_null(value) || json_is_string(value))
		return;
	text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	csv_text(text ? text : "", out);
	free(text);
}

static json_t *settings_of(const json_t *points)
{
	json_t *all = json_object(), *point, *value;
	const char *key;
	size_t i;

	json_array_foreach (points, i, point) {
		json_object_foreach (json_object_get(point, "params"), key, value) {
			if (!json_object_get(all, key))
				json_object_set_new(all, key, json_null());
		}
	}
	return all;
}

/* Does any metric have this key, possibly with null? `any`: there is a metric. */
static bool have_key(const json_t *points, const char *wanted, bool *any)
{
	const json_t *point;
	const char *metric;
	json_t *values;
	size_t i;

	*any = false;
	json_array_foreach (points, i, point)
		json_object_foreach (json_object_get(point, "metrics"), metric, values) {
			if (json_object_get(values, wanted))
				return true;
			*any = true;
		}
	return false;
}

/* Also true if there is no metric at all. */
static bool have_statistic(const json_t *points, const char *statistic)
{
	bool any;

	return have_key(points, statistic, &any) || !any;
}

/* --- blocks: the same in every row of a flow --- */

static bool points_have_block(const json_t *points, const struct block *b)
{
	const json_t *point;
	const char *key;
	json_t *value;
	size_t i;

	json_array_foreach (points, i, point)
		json_object_foreach ((json_t *)point, key, value)
			if (!strcmp(flows_bare_key(key), b->name))
				return true;
	return false;
}

/* A block that no point has does not get columns. */
static const struct block **blocks_of(const json_t *points)
{
	const struct block **list = NULL;
	size_t count = 0;

	for (size_t i = 0; blocks[i]; i++) {
		if (!points_have_block(points, blocks[i]))
			continue;
		list = grow_or_abort(list, count, sizeof(*list));
		list[count++] = blocks[i];
	}
	list = grow_or_abort(list, count, sizeof(*list));
	list[count] = NULL;
	return list;
}

static void csv_block_head(const struct csv *c, const struct block *b)
{
	for (const struct block_statistic *s = b->statistics; s->key; s++)
		if (s->in_csv)
			fprintf(c->out, ",%s", s->key);
}

/* The block of the flow to which a metric belongs. */
static const json_t *block_beside(const json_t *point, const char *metric, const struct block *b)
{
	char key[FLOWS_KEY_MAX];

	snprintf(key, sizeof(key), "%.*s%s", (int)(flows_bare_key(metric) - metric), metric, b->name);
	return json_object_get(point, key);
}

static void csv_block(const struct csv *c, const struct block *b, const json_t *block)
{
	for (const struct block_statistic *s = b->statistics; s->key; s++) {
		if (!s->in_csv)
			continue;
		fputc(',', c->out);
		csv_value(json_object_get(block, s->key), c->out);
	}
}

/* --- rows --- */

static void csv_head(const struct csv *c)
{
	const char *key;
	json_t *value;

	fputs("id,valid", c->out);
	json_object_foreach (c->settings, key, value) {
		fputc(',', c->out);
		csv_text(key, c->out);
	}
	fputs(",metric", c->out);
	for (size_t i = 0; i < STATISTICS; i++)
		if (c->has[i])
			fprintf(c->out, ",%s", statistics[i].key);
	if (c->has_clock_error)
		fputs("," CLOCK_ERROR_KEY, c->out);
	for (size_t i = 0; c->blocks[i]; i++)
		csv_block_head(c, c->blocks[i]);
	fputs("\r\n", c->out);
}

static void csv_row(const struct csv *c, const json_t *point, const char *metric, const json_t *values)
{
	const char *key;
	json_t *value;

	csv_value(json_object_get(point, "id"), c->out);
	fputc(',', c->out);
	csv_value(json_object_get(point, "valid"), c->out);
	json_object_foreach (c->settings, key, value) {
		fputc(',', c->out);
		csv_value(json_object_get(json_object_get(point, "params"), key), c->out);
	}
	fputc(',', c->out);
	csv_text(metric, c->out);
	for (size_t i = 0; i < STATISTICS; i++) {
		if (!c->has[i])
			continue;
		fputc(',', c->out);
		csv_value(json_object_get(values, statistics[i].key), c->out);
	}
	if (c->has_clock_error) {
		fputc(',', c->out);
		csv_value(json_object_get(values, CLOCK_ERROR_KEY), c->out);
	}
	for (size_t i = 0; c->blocks[i]; i++)
		csv_block(c, c->blocks[i], block_beside(point, metric, c->blocks[i]));
	fputs("\r\n", c->out);
}

/* A point that was not measured has a row, too, to show that it is missing. */
static void csv_point(const struct csv *c, const json_t *point)
{
	json_t *metrics = json_object_get(point, "metrics"), *values;
	const char *metric;

	json_object_foreach (metrics, metric, values)
		csv_row(c, point, metric, values);
	if (!json_object_size(metrics))
		csv_row(c, point, "", NULL);
}

int summary_csv(const json_t *summary, FILE *out)
{
	const json_t *points = json_object_get(summary, "points"), *point;
	struct csv c = {.out = out, .settings = settings_of(points), .blocks = blocks_of(points)};
	size_t i;

	for (i = 0; i < STATISTICS; i++)
		c.has[i] = have_statistic(points, statistics[i].key);
	c.has_clock_error = have_key(points, CLOCK_ERROR_KEY, &(bool){false});
	csv_head(&c);
	json_array_foreach (points, i, point)
		csv_point(&c, point);
	json_decref(c.settings);
	free(c.blocks);
	return ferror(out) ? -EIO : 0;
}
