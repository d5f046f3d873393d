#include "judge/analysis/summary_build.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/csv.h"
#include "common/or_abort.h"
#include "files/rundir/flows.h"
#include "judge/analysis/param.h"
#include "judge/analysis/summary.h"

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

static void csv_statistic(struct number n, FILE *out)
{
	json_t *value = number_encode(n);

	fputc(',', out);
	csv_value(value, out);
	json_decref(value);
}

static json_t *settings_of(const struct summary *s)
{
	json_t *all = json_object(), *value;
	const char *key;

	for (size_t i = 0; i < s->point_count; i++)
		json_object_foreach (s->points[i].params, key, value) {
			if (!json_object_get(all, key))
				json_object_set_new(all, key, json_null());
		}
	return all;
}

/* Which statistics has any metric, possibly with null? All of them if there is no metric at all. */
static void find_statistics(struct csv *c, const struct summary *s)
{
	bool any = false;

	for (size_t i = 0; i < s->point_count; i++)
		for (size_t m = 0; m < s->points[i].results.metric_count; m++) {
			const struct summary_metric *metric = &s->points[i].results.metrics[m];

			for (size_t k = 0; k < STATISTICS; k++)
				c->has[k] |= metric->values[k].kind != NUMBER_ABSENT;
			c->has_clock_error |= metric->clock_error.kind != NUMBER_ABSENT;
			any = true;
		}
	for (size_t k = 0; !any && k < STATISTICS; k++)
		c->has[k] = true;
}

/* --- blocks: the same in every row of a flow --- */

static bool points_have_block(const struct summary *s, const struct block *of)
{
	for (size_t i = 0; i < s->point_count; i++)
		for (size_t b = 0; b < s->points[i].results.block_count; b++)
			if (s->points[i].results.blocks[b].of == of)
				return true;
	return false;
}

/* A block that no point has does not get columns. */
static const struct block **blocks_of(const struct summary *s)
{
	const struct block **list = NULL;
	size_t count = 0;

	for (size_t i = 0; blocks[i]; i++) {
		if (!points_have_block(s, blocks[i]))
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
static const struct summary_block *block_beside(const struct summary_point *p, const char *metric,
						const struct block *of)
{
	for (size_t i = 0; i < p->results.block_count; i++)
		if (p->results.blocks[i].of == of && flows_owns(p->results.blocks[i].flow, metric))
			return &p->results.blocks[i];
	return NULL;
}

static void csv_block(const struct csv *c, const struct block *of, const struct summary_block *b)
{
	for (const struct block_statistic *s = of->statistics; s->key; s++)
		if (s->in_csv)
			csv_statistic(summary_block_number(b, s), c->out);
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

/* `m` is NULL: nothing was measured. */
static void csv_row(const struct csv *c, const struct summary_point *point, const struct summary_metric *m)
{
	const struct number none = {.kind = NUMBER_ABSENT};
	const char *key;
	json_t *value;

	fprintf(c->out, "%" JSON_INTEGER_FORMAT ",%s", point->id, point->valid ? "true" : "false");
	json_object_foreach (c->settings, key, value) {
		fputc(',', c->out);
		csv_value(param_value(point->params, key), c->out);
	}
	fputc(',', c->out);
	csv_text(m ? m->name : "", c->out);
	for (size_t i = 0; i < STATISTICS; i++)
		if (c->has[i])
			csv_statistic(m ? m->values[i] : none, c->out);
	if (c->has_clock_error)
		csv_statistic(m ? m->clock_error : none, c->out);
	for (size_t i = 0; c->blocks[i]; i++)
		csv_block(c, c->blocks[i], block_beside(point, m ? m->name : "", c->blocks[i]));
	fputs("\r\n", c->out);
}

/* A point that was not measured has a row, too, to show that it is missing. */
static void csv_point(const struct csv *c, const struct summary_point *point)
{
	for (size_t i = 0; i < point->results.metric_count; i++)
		csv_row(c, point, &point->results.metrics[i]);
	if (!point->results.metric_count)
		csv_row(c, point, NULL);
}

int summary_csv(const struct summary *summary, FILE *out)
{
	struct csv c = {.out = out, .settings = settings_of(summary), .blocks = blocks_of(summary)};

	find_statistics(&c, summary);
	csv_head(&c);
	for (size_t i = 0; i < summary->point_count; i++)
		csv_point(&c, &summary->points[i]);
	json_decref(c.settings);
	free(c.blocks);
	return ferror(out) ? -EIO : 0;
}
