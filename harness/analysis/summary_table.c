#include "analysis/summary_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/blocks.h"
#include "analysis/param.h"
#include "analysis/reasons.h"
#include "analysis/spread.h"
#include "analysis/text_table.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "common/units.h"
#include "rundir/flows.h"
#include "rundir/layout.h"

#define WIDTH 110

/* One row of the table: a flow of a point. */
struct row {
	const json_t *summary, *point;
	size_t run;
	const char *flow;     /* "": the point has no flows */
	const json_t *params; /* the flow's settings, without its name */
	const char *metric;   /* name of the flow's first one; "" if there is none */
	const json_t *values;
};

struct rows {
	struct row *row;
	size_t count, runs;
	json_t *held; /* owns what the rows borrow */
};

static void find_metric(struct row *r)
{
	json_t *metrics = json_object_get(r->point, "metrics"), *values;
	const char *name;

	r->metric = "";
	json_object_foreach (metrics, name, values) {
		if (!flows_owns(r->flow, name))
			continue;
		r->metric = name;
		r->values = values;
		return;
	}
}

static void add_rows(struct rows *all, const json_t *summary, size_t run, const json_t *point)
{
	json_t *params = json_object_get(point, "params"), *names = flows_names(params), *name;
	size_t i;

	json_array_append_new(all->held, names);
	json_array_foreach (names, i, name) {
		struct row *r;
		json_t *of_flow = flows_params(params, json_string_value(name));

		all->row = grow_or_abort(all->row, all->count, sizeof(*all->row));
		r = &all->row[all->count++];
		*r = (struct row){
		    .summary = summary, .point = point, .run = run, .flow = json_string_value(name), .params = of_flow};
		json_array_append_new(all->held, of_flow);
		find_metric(r);
	}
}

static void collect_rows(struct rows *all, const json_t *const *summaries, size_t count)
{
	*all = (struct rows){.runs = count, .held = json_array()};
	for (size_t run = 0; run < count; run++) {
		const json_t *points = json_object_get(summaries[run], "points"), *point;
		size_t i;

		json_array_foreach (points, i, point)
			add_rows(all, summaries[run], run, point);
	}
}

static const json_t *param(const struct row *r, const char *key)
{
	return json_object_get(r->params, key);
}

/* --- settings --- */

/* Does the spec name it, for this flow or for all? */
static bool is_named(const json_t *named, const struct row *r, const char *key)
{
	char full[FLOWS_KEY_MAX];

	return param_is_named(named, key) || param_is_named(named, flows_key(r->flow, key, full, sizeof(full)));
}

/* The settings of all rows, in order of appearance, and whether the spec of a row names them. */
static json_t *find_settings(const struct rows *all, struct spread *spread)
{
	json_t *settings = json_object(), *value, *named = NULL;
	const char *key;

	for (size_t i = 0; i < all->count; i++) {
		const struct row *r = &all->row[i];

		if (!i || r->summary != all->row[i - 1].summary) {
			json_decref(named);
			named = param_named(r->summary);
		}
		json_object_foreach ((json_t *)r->params, key, value) {
			spread_add(spread, key, value);
			if (!json_is_true(json_object_get(settings, key)))
				json_object_set_new(settings, key, json_boolean(is_named(named, r, key)));
		}
	}
	json_decref(named);
	return settings;
}

static void add_setting(struct text_table *t, const struct rows *all, const char *key)
{
	char name[TEXT_TABLE_CELL], buf[256];
	enum unit unit = param_name_unit(key, name, sizeof(name));
	bool numbers = true;
	size_t column;

	for (size_t i = 0; i < all->count; i++)
		numbers &= !json_is_string(param(&all->row[i], key));
	column = text_table_add(t, name, numbers ? ALIGN_RIGHT : ALIGN_LEFT, 0);
	for (size_t i = 0; i < all->count; i++)
		text_table_set(t, column, i, "%s", param_value_text(param(&all->row[i], key), unit, buf, sizeof(buf)));
}

/* A setting varies if two points that have it differ. One that only a single transport has does not
 * distinguish that transport's points, and neither does one that nobody chose. */
static void add_settings(struct text_table *t, const struct rows *all)
{
	struct spread spread = spread_new();
	json_t *settings = find_settings(all, &spread), *named;
	unsigned added = 0;
	const char *key;

	json_object_foreach (settings, key, named) {
		if (added == PARAM_VARYING_MOST || !json_is_true(named) || !spread_differs(&spread, key))
			continue;
		add_setting(t, all, key);
		added++;
	}
	json_decref(settings);
	spread_free(&spread);
}

/* --- numbers --- */

/* Nanoseconds as microseconds with three significant digits; from 1000 us on, all digits before the
 * decimal point. */
static void put_us(struct text_table *t, size_t column, size_t row, const json_t *value)
{
	double us = json_number_value(value) / 1000, size = fabs(us);

	text_table_set(t, column, row, "%.*f", size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3, us);
}

static void put_count(struct text_table *t, size_t column, size_t row, const json_t *value)
{
	text_table_set(t, column, row, "%.0f", json_number_value(value));
}

static void put_share(struct text_table *t, size_t column, size_t row, const json_t *value)
{
	double percent = 100 * json_number_value(value);

	if (percent == 0)
		text_table_set(t, column, row, "0");
	else
		text_table_set(t, column, row, "%.*f",
			       percent >= 10	 ? 0
			       : percent >= 1	 ? 1
			       : percent >= 0.1	 ? 2
			       : percent >= 0.01 ? 3
						 : 4,
			       percent);
}

/* Three significant digits; from 1000 on, all digits before the decimal point. */
static void put_four_digits(struct text_table *t, size_t column, size_t row, double number)
{
	text_table_set(t, column, row, fabs(number) < 999.95 ? "%.4g" : "%.0f", number);
}

static void put_thousands(struct text_table *t, size_t column, size_t row, const json_t *value)
{
	put_four_digits(t, column, row, json_number_value(value) / 1000);
}

static void put_millions(struct text_table *t, size_t column, size_t row, const json_t *value)
{
	put_four_digits(t, column, row, json_number_value(value) / 1e6);
}

static void put_ratio(struct text_table *t, size_t column, size_t row, const json_t *value)
{
	text_table_set(t, column, row, "%.4g", json_number_value(value));
}

static const struct {
	enum text_align align;
	void (*put)(struct text_table *t, size_t column, size_t row, const json_t *value);
} forms[] = {
    [MEASURE_SERIES] = {ALIGN_POINT, put_us},	[MEASURE_SHARE] = {ALIGN_POINT, put_share},
    [MEASURE_COUNT] = {ALIGN_RIGHT, put_count}, [MEASURE_RATE] = {ALIGN_POINT, put_thousands},
    [MEASURE_BYTES] = {ALIGN_RIGHT, put_count}, [MEASURE_BYTE_RATE] = {ALIGN_POINT, put_millions},
    [MEASURE_RATIO] = {ALIGN_POINT, put_ratio},
};

static void put_number(struct text_table *t, size_t column, size_t row, enum measure measure, const json_t *value)
{
	if (json_is_number(value))
		forms[measure].put(t, column, row, value);
	else
		text_table_set(t, column, row, "-");
}

static json_int_t limit_of(const struct row *r)
{
	const json_t *limit = param(r, "limit_ns");

	return json_is_integer(limit) ? json_integer_value(limit) : LAYOUT_LIMIT_NS;
}

/* "% >10us", or "% >limit" if limits differ between points. */
static void title_of_limit(const struct rows *all, char *buf, size_t size)
{
	char text[32];

	for (size_t i = 1; i < all->count; i++)
		if (limit_of(&all->row[i]) != limit_of(&all->row[0])) {
			snprintf(buf, size, "%% >limit");
			return;
		}
	snprintf(buf, size, "%% >%s",
		 all->count ? unit_format(UNIT_TIME_NS, limit_of(&all->row[0]), text, sizeof(text)) : "limit");
}

static void add_statistic_column(struct text_table *t, const struct rows *all, const struct statistic *s,
				 const char *title)
{
	size_t column = text_table_add(t, title, forms[s->measure].align, s->spare);

	for (size_t i = 0; i < all->count; i++)
		put_number(t, column, i, s->measure, json_object_get(all->row[i].values, s->key));
}

/* Runs of an earlier version may not have it; if nothing was measured, it does not count as missing. */
static bool rows_have_statistic(const struct rows *all, const char *key)
{
	bool any = false;

	for (size_t i = 0; i < all->count; i++) {
		if (json_object_get(all->row[i].values, key))
			return true;
		any |= all->row[i].values != NULL;
	}
	return !any;
}

static void add_statistic_columns(struct text_table *t, const struct rows *all)
{
	char limit[40];

	title_of_limit(all, limit, sizeof(limit));
	for (size_t i = 0; i < STATISTICS; i++)
		if (statistics[i].shown & SHOWN_TABLE && rows_have_statistic(all, statistics[i].key))
			add_statistic_column(t, all, &statistics[i],
					     i == STATISTIC_OVER_LIMIT ? limit : statistics[i].label);
}

/* If a series has stamps of two hosts' clocks. */
static void add_clock_error(struct text_table *t, const struct rows *all)
{
	bool any = false;
	size_t column;

	for (size_t i = 0; i < all->count; i++)
		any |= json_object_get(all->row[i].values, CLOCK_ERROR_KEY) != NULL;
	if (!any)
		return;
	column = text_table_add(t, "clock +-", ALIGN_POINT, 0);
	for (size_t i = 0; i < all->count; i++)
		put_number(t, column, i, MEASURE_SERIES, json_object_get(all->row[i].values, CLOCK_ERROR_KEY));
}

static const json_t *block_of(const struct row *r, const struct block *b)
{
	return flows_get(r->point, r->flow, b->name);
}

static bool rows_have_block(const struct rows *all, const struct block *b)
{
	for (size_t i = 0; i < all->count; i++)
		if (block_of(&all->row[i], b))
			return true;
	return false;
}

/* Values without any counter do not get a column. */
static bool rows_know(const struct rows *all, const struct block *b, const char *key)
{
	for (size_t i = 0; i < all->count; i++)
		if (json_is_number(json_object_get(block_of(&all->row[i], b), key)))
			return true;
	return false;
}

static void add_block_columns(struct text_table *t, const struct rows *all, const struct block *b)
{
	for (const struct block_statistic *s = b->statistics; s->key; s++) {
		size_t column;

		if (!(s->shown & SHOWN_TABLE) || !rows_know(all, b, s->key))
			continue;
		column = text_table_add(t, s->label, forms[s->measure].align, s->spare);
		for (size_t i = 0; i < all->count; i++)
			put_number(t, column, i, s->measure, json_object_get(block_of(&all->row[i], b), s->key));
	}
}

static void add_all_blocks(struct text_table *t, const struct rows *all)
{
	for (size_t i = 0; blocks[i]; i++)
		if (rows_have_block(all, blocks[i]))
			add_block_columns(t, all, blocks[i]);
}

/* --- which point --- */

static bool is_valid(const json_t *object)
{
	return json_is_true(json_object_get(object, "valid"));
}

/* The names of a run's hosts, as one text; the caller frees. */
static char *hosts_of(const json_t *summary)
{
	const json_t *hosts = json_object_get(summary, "hosts"), *host;
	char *text = NULL;
	size_t size, i;
	FILE *out = or_abort(open_memstream(&text, &size));

	json_array_foreach (hosts, i, host) {
		fprintf(out, "%s%s", i ? ", " : "", json_is_string(host) ? json_string_value(host) : "?");
	}
	fclose(out);
	return text;
}

static bool hosts_differ(const struct rows *all)
{
	for (size_t i = 1; i < all->count; i++)
		if (!json_equal(json_object_get(all->row[i].summary, "hosts"),
				json_object_get(all->row[0].summary, "hosts")))
			return true;
	return false;
}

/* The name of a row's flow, if points have flows. */
static void add_flow_column(struct text_table *t, const struct rows *all)
{
	bool any = false;
	size_t column;

	for (size_t i = 0; i < all->count; i++)
		any |= *all->row[i].flow != 0;
	if (!any)
		return;
	column = text_table_add(t, "flow", ALIGN_LEFT, 0);
	for (size_t i = 0; i < all->count; i++)
		text_table_set(t, column, i, "%s", all->row[i].flow);
}

static void add_identity(struct text_table *t, const struct rows *all)
{
	size_t mark = text_table_add(t, "", ALIGN_LEFT, 0), id = text_table_add(t, "point", ALIGN_RIGHT, 0);
	bool by_host = hosts_differ(all);
	size_t host = by_host ? text_table_add(t, "host", ALIGN_LEFT, 0) : 0;

	for (size_t i = 0; i < all->count; i++) {
		const struct row *r = &all->row[i];
		json_int_t number = json_integer_value(json_object_get(r->point, "id"));
		char *names = by_host ? hosts_of(r->summary) : NULL;

		text_table_set(t, mark, i, "%s", is_valid(r->point) ? " " : "!");
		if (all->runs > 1)
			text_table_set(t, id, i, "%zu.%" JSON_INTEGER_FORMAT, r->run + 1, number);
		else
			text_table_set(t, id, i, "%" JSON_INTEGER_FORMAT, number);
		if (by_host)
			text_table_set(t, host, i, "%s", names);
		free(names);
	}
}

/* "lat_ns"; NULL if the points do not all have the same first metric, so that each row must name its own. */
static const char *common_metric(const struct rows *all)
{
	const char *metric = NULL;

	for (size_t i = 0; i < all->count; i++) {
		if (!*all->row[i].metric)
			continue;
		if (metric && strcmp(metric, flows_bare_key(all->row[i].metric)))
			return NULL;
		metric = flows_bare_key(all->row[i].metric);
	}
	return metric ? metric : "";
}

static void add_metric(struct text_table *t, const struct rows *all)
{
	char name[TEXT_TABLE_CELL];
	size_t column;

	if (common_metric(all))
		return;
	column = text_table_add(t, "metric", ALIGN_LEFT, 0);
	for (size_t i = 0; i < all->count; i++) {
		param_name_unit(flows_bare_key(all->row[i].metric), name, sizeof(name));
		text_table_set(t, column, i, "%s", name);
	}
}

/* --- above and below --- */

static void table_put_clean(const char *text, FILE *out)
{
	char clean[2048];

	fputs(text_clean(text, strlen(text), clean, sizeof(clean)), out);
}

/* "1: quickstart (quick): One-way latency, on alpha and beta" */
static void put_title(const json_t *summary, size_t run, size_t runs, FILE *out)
{
	char *hosts = hosts_of(summary);

	if (runs > 1)
		fprintf(out, "%zu: ", run + 1);
	table_put_clean(json_text(summary, "name"), out);
	if (!strcmp(json_text(summary, "variant"), "quick"))
		fputs(" (quick)", out);
	if (*json_text(summary, "title"))
		fputs(": ", out);
	table_put_clean(json_text(summary, "title"), out);
	if (*hosts)
		fputs(", on ", out);
	table_put_clean(hosts, out);
	fputs(is_valid(summary) ? "\n" : ": NOT VALID\n", out);
	free(hosts);
}

/* The settings that all points have in common and that a reader should know: "oneway, shmem, size 32B: ". */
static void put_common(const struct rows *all, FILE *out)
{
	static const char *const keys[] = {"kernel", "transport", "qp", "poll", "size_bytes"};
	char name[TEXT_TABLE_CELL], text[64], clean[64];
	const char *before = "";

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const json_t *value = all->count ? param(&all->row[0], keys[i]) : NULL;
		enum unit unit = param_name_unit(keys[i], name, sizeof(name));
		bool shared = value != NULL;

		for (size_t k = 0; shared && k < all->count; k++)
			shared = param(&all->row[k], keys[i]) && json_equal(value, param(&all->row[k], keys[i]));
		if (!shared)
			continue;
		param_value_text(value, unit, text, sizeof(text));
		fprintf(out, "%s%s%s%s", before, json_is_string(value) ? "" : name, json_is_string(value) ? "" : " ",
			text_clean(text, strlen(text), clean, sizeof(clean)));
		before = ", ";
	}
	fputs(*before ? ": " : "", out);
}

static void put_caption(const struct rows *all, FILE *out)
{
	const char *metric = common_metric(all);
	char name[TEXT_TABLE_CELL] = "";
	size_t points = 0, bad = 0;

	for (size_t i = 0; i < all->count; i++) {
		/* The rows of a point are adjacent. */
		bool first = !i || all->row[i - 1].point != all->row[i].point;

		points += first;
		bad += first && !is_valid(all->row[i].point);
	}
	if (metric)
		param_name_unit(metric, name, sizeof(name));
	put_common(all, out);
	fprintf(out, "%s%sin us; %zu point%s", name, *name ? " " : "", points, points == 1 ? "" : "s");
	if (bad)
		fprintf(out, ", %zu not valid (!)", bad);
	fputs("\n\n", out);
}

void summary_table(const json_t *const *summaries, size_t count, FILE *out)
{
	struct rows all;
	struct text_table t;

	collect_rows(&all, summaries, count);
	for (size_t i = 0; i < count; i++)
		put_title(summaries[i], i, count, out);
	put_caption(&all, out);
	text_table_init(&t, all.count);
	add_identity(&t, &all);
	add_flow_column(&t, &all);
	add_settings(&t, &all);
	add_metric(&t, &all);
	add_statistic_columns(&t, &all);
	add_clock_error(&t, &all);
	add_all_blocks(&t, &all);
	text_table_print(&t, WIDTH, out);
	reasons_print(summaries, count, WIDTH, out);
	text_table_free(&t);
	free(all.row);
	json_decref(all.held);
}
