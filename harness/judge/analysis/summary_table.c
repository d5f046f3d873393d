#include "judge/analysis/summary_table.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/clean_stream.h"
#include "common/or_abort.h"
#include "common/table_print.h"
#include "common/text.h"
#include "common/units.h"
#include "files/rundir/flows.h"
#include "files/rundir/layout.h"
#include "judge/analysis/notes.h"
#include "judge/analysis/param.h"
#include "judge/analysis/summary.h"
#include "judge/analysis/validity.h"
#include "judge/analysis/varying.h"

#define WIDTH	  110
#define NAME_SIZE (TABLE_MOST + 1)

/* One row of the table: a flow of a point. */
struct row {
	const struct summary *summary;
	const struct summary_point *point;
	size_t run;
	const char *flow;		     /* "": the point has no flows */
	const json_t *params;		     /* the flow's settings, without its name */
	const struct summary_metric *metric; /* the flow's first one; NULL if there is none */
};

struct rows {
	struct row *row;
	size_t count, runs;
	json_t *held; /* owns the settings */
};

static void add_rows(struct rows *all, const struct summary *summary, size_t run, const struct summary_point *point)
{
	for (size_t i = 0; i < point->flow_count; i++) {
		const char *flow = point->flows[i].name;
		json_t *of_flow = flows_params(point->params, flow);

		all->row = grow_or_abort(all->row, all->count, sizeof(*all->row));
		all->row[all->count++] = (struct row){
		    .summary = summary,
		    .point = point,
		    .run = run,
		    .flow = flow,
		    .params = of_flow,
		    .metric = summary_find_metric(&point->results, flow, NULL),
		};
		json_array_append_new(all->held, of_flow);
	}
}

static void collect_rows(struct rows *all, const struct summary *const *summaries, size_t count)
{
	*all = (struct rows){.runs = count, .held = json_array()};
	for (size_t run = 0; run < count; run++)
		for (size_t i = 0; i < summaries[run]->point_count; i++)
			add_rows(all, summaries[run], run, &summaries[run]->points[i]);
}

static const json_t *row_param(const struct row *r, const char *key)
{
	return param_value(r->params, key);
}

/* --- columns and cells --- */

static void put_number(struct table *t, size_t column, size_t row, struct number n)
{
	table_number(t, column, row, number_value(n));
}

/* A column of numbers; empty cells. */
static size_t add_number_column(struct table *t, const char *label, enum measure measure, unsigned drop_order)
{
	return table_add(t, &(struct table_column){
				.label = label, .measure = measure, .align = TABLE_NUMBER, .drop_order = drop_order});
}

static size_t add_text_column(struct table *t, const char *label, enum table_align align)
{
	return table_add(t, &(struct table_column){.label = label, .align = align});
}

/* --- settings --- */

/* Does the spec name it, for this flow or for all? */
static bool is_named_by_spec(const json_t *named, const struct row *r, const char *key)
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
			named = param_named(r->summary->named);
		}
		json_object_foreach ((json_t *)r->params, key, value) {
			spread_add(spread, key, value);
			if (!json_is_true(json_object_get(settings, key)))
				json_object_set_new(settings, key, json_boolean(is_named_by_spec(named, r, key)));
		}
	}
	json_decref(named);
	return settings;
}

static void add_setting(struct table *t, const struct rows *all, const char *key)
{
	char name[NAME_SIZE], buf[256];
	enum unit unit = param_name_unit(key, name, sizeof(name));
	bool numbers = true;
	size_t column;

	for (size_t i = 0; i < all->count; i++)
		numbers &= !json_is_string(row_param(&all->row[i], key));
	column = add_text_column(t, name, numbers ? TABLE_RIGHT : TABLE_LEFT);
	for (size_t i = 0; i < all->count; i++)
		table_text(t, column, i, "%s", param_value_text(row_param(&all->row[i], key), unit, buf, sizeof(buf)));
}

/* A setting varies if two points that have it differ. One that only a single transport has does not
 * distinguish that transport's points, and neither does one that nobody chose. */
static void add_settings(struct table *t, const struct rows *all)
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

/* "% >10us", or "% >limit" if limits differ between points. */
static void title_of_limit(const struct rows *all, char *buf, size_t size)
{
	char text[32];

	for (size_t i = 1; i < all->count; i++)
		if (layout_limit_ns(all->row[i].params) != layout_limit_ns(all->row[0].params)) {
			snprintf(buf, size, "%% >limit");
			return;
		}
	snprintf(buf, size, "%% >%s",
		 all->count ? unit_format(UNIT_TIME_NS, layout_limit_ns(all->row[0].params), text, sizeof(text))
			    : "limit");
}

static struct number row_statistic(const struct row *r, size_t statistic)
{
	return r->metric ? r->metric->values[statistic] : (struct number){.kind = NUMBER_ABSENT};
}

static void add_statistic_column(struct table *t, const struct rows *all, size_t statistic, const char *title)
{
	const struct statistic *s = &statistics[statistic];
	size_t column = add_number_column(t, title, s->measure, s->drop_order);

	for (size_t i = 0; i < all->count; i++)
		put_number(t, column, i, row_statistic(&all->row[i], statistic));
}

/* Runs of an earlier version may not have it; if nothing was measured, it does not count as missing. */
static bool rows_have_statistic(const struct rows *all, size_t statistic)
{
	bool any = false;

	for (size_t i = 0; i < all->count; i++) {
		if (row_statistic(&all->row[i], statistic).kind != NUMBER_ABSENT)
			return true;
		any |= all->row[i].metric != NULL;
	}
	return !any;
}

static void add_statistic_columns(struct table *t, const struct rows *all)
{
	char limit[40];

	title_of_limit(all, limit, sizeof(limit));
	for (size_t i = 0; i < STATISTICS; i++)
		if (statistics[i].shown & SHOWN_TABLE && rows_have_statistic(all, i))
			add_statistic_column(t, all, i, i == STATISTIC_OVER_LIMIT ? limit : statistics[i].label);
}

static struct number row_clock_error(const struct row *r)
{
	return r->metric ? r->metric->clock_error : (struct number){.kind = NUMBER_ABSENT};
}

/* If a series has stamps of two hosts' clocks. */
static void add_clock_error(struct table *t, const struct rows *all)
{
	bool any = false;
	size_t column;

	for (size_t i = 0; i < all->count; i++)
		any |= row_clock_error(&all->row[i]).kind != NUMBER_ABSENT;
	if (!any)
		return;
	column = add_number_column(t, "clock +-", MEASURE_SERIES, 0);
	for (size_t i = 0; i < all->count; i++)
		put_number(t, column, i, row_clock_error(&all->row[i]));
}

/* Of a period that explains less than that share of the variance nobody needs to know in a table. */
#define PERIOD_LEAST 0.05

static struct number row_number(const struct row *r, const struct block *b, const struct block_statistic *s)
{
	const struct summary_block *of = summary_find_block(&r->point->results, r->flow, b);

	if (of && b == &pattern_block && s->number == PATTERN_PERIOD &&
	    !(number_value(of->numbers[PATTERN_STRENGTH]) >= PERIOD_LEAST))
		return number_none();
	/* Nothing was recorded: that is not none explained. */
	if (of && b == &causes_block && s->number == CAUSES_EXPLAINED_SHARE && of->why &&
	    number_count(of->numbers[CAUSES_NOT_KNOWN]) == number_count(of->numbers[CAUSES_MESSAGES]))
		return number_none();
	return summary_block_number(of, s);
}

/* Values without any counter do not get a column. */
static bool rows_know(const struct rows *all, const struct block *b, const struct block_statistic *s)
{
	for (size_t i = 0; i < all->count; i++)
		if (number_is_known(row_number(&all->row[i], b, s)))
			return true;
	return false;
}

static void add_columns_of_block(struct table *t, const struct rows *all, const struct block *b)
{
	for (const struct block_statistic *s = b->statistics; s->key; s++) {
		size_t column;

		if (!(s->shown & SHOWN_TABLE) || !rows_know(all, b, s))
			continue;
		column = add_number_column(t, s->label, s->measure, s->drop_order);
		for (size_t i = 0; i < all->count; i++)
			put_number(t, column, i, row_number(&all->row[i], b, s));
	}
}

static void add_all_blocks(struct table *t, const struct rows *all)
{
	for (size_t i = 0; blocks[i]; i++)
		add_columns_of_block(t, all, blocks[i]);
}

/* --- which point --- */

/* The names of a run's hosts, as one text; the caller frees. */
static char *hosts_of(const struct summary *summary)
{
	const json_t *host;
	char *text = NULL;
	size_t size, i;
	FILE *out = or_abort(open_memstream(&text, &size));

	json_array_foreach (summary->hosts, i, host) {
		fprintf(out, "%s%s", i ? ", " : "", json_is_string(host) ? json_string_value(host) : "?");
	}
	fclose(out);
	return text;
}

static bool hosts_differ(const struct rows *all)
{
	for (size_t i = 1; i < all->count; i++)
		if (!json_equal(all->row[i].summary->hosts, all->row[0].summary->hosts))
			return true;
	return false;
}

/* The name of a row's flow, if points have flows. */
static void add_flow_column(struct table *t, const struct rows *all)
{
	bool any = false;
	size_t column;

	for (size_t i = 0; i < all->count; i++)
		any |= *all->row[i].flow != 0;
	if (!any)
		return;
	column = add_text_column(t, "flow", TABLE_LEFT);
	for (size_t i = 0; i < all->count; i++)
		table_text(t, column, i, "%s", all->row[i].flow);
}

static void add_identity(struct table *t, const struct rows *all)
{
	size_t mark = add_text_column(t, "", TABLE_LEFT), id = add_text_column(t, "point", TABLE_RIGHT);
	bool by_host = hosts_differ(all);
	size_t host = by_host ? add_text_column(t, "host", TABLE_LEFT) : 0;

	for (size_t i = 0; i < all->count; i++) {
		const struct row *r = &all->row[i];
		json_int_t number = r->point->id;
		char *names = by_host ? hosts_of(r->summary) : NULL;

		table_text(t, mark, i, "%s", r->point->valid ? " " : "!");
		if (all->runs > 1)
			table_text(t, id, i, "%zu.%" JSON_INTEGER_FORMAT, r->run + 1, number);
		else
			table_text(t, id, i, "%" JSON_INTEGER_FORMAT, number);
		if (by_host)
			table_text(t, host, i, "%s", names);
		free(names);
	}
}

/* Without the name of its flow; "" if nothing was measured. */
static const char *row_metric(const struct row *r)
{
	return r->metric ? flows_bare_key(r->metric->name) : "";
}

/* "lat_ns"; NULL if the points do not all have the same first metric, so that each row must name its own. */
static const char *common_metric(const struct rows *all)
{
	const char *metric = NULL;

	for (size_t i = 0; i < all->count; i++) {
		if (!*row_metric(&all->row[i]))
			continue;
		if (metric && strcmp(metric, row_metric(&all->row[i])))
			return NULL;
		metric = row_metric(&all->row[i]);
	}
	return metric ? metric : "";
}

static void add_metric_column(struct table *t, const struct rows *all)
{
	char name[NAME_SIZE];
	size_t column;

	if (common_metric(all))
		return;
	column = add_text_column(t, "metric", TABLE_LEFT);
	for (size_t i = 0; i < all->count; i++) {
		param_name_unit(row_metric(&all->row[i]), name, sizeof(name));
		table_text(t, column, i, "%s", name);
	}
}

/* --- above and below --- */

/* "1: quickstart (quick): One-way latency, on alpha and beta" */
/* Was any of it measured over the tests' model of an adapter? */
static bool is_of_model(const struct summary *summary)
{
	const json_t *text;
	size_t n;

	for (size_t i = 0; i < summary->point_count; i++)
		json_array_foreach (summary->points[i].warnings, n, text)
			if (!strcmp(json_string_value(text), VALIDITY_MODEL))
				return true;
	return false;
}

static void put_title(const struct summary *summary, size_t run, size_t runs, FILE *out)
{
	char *hosts = hosts_of(summary);

	if (runs > 1)
		fprintf(out, "%zu: ", run + 1);
	if (is_of_model(summary))
		fputs("MODEL: ", out);
	text_print(summary->name, out);
	if (!strcmp(summary->variant, "quick"))
		fputs(" (quick)", out);
	if (*summary->title)
		fputs(": ", out);
	text_print(summary->title, out);
	if (*hosts)
		fputs(", on ", out);
	text_print(hosts, out);
	fputs(summary->valid ? "\n" : ": NOT VALID\n", out);
	free(hosts);
}

/* The settings that all points have in common and that a reader should know: "oneway, shmem, size 32B: ". */
static void put_common(const struct rows *all, FILE *out)
{
	static const char *const keys[] = {"kernel", "transport", "qp", "poll", "size_bytes"};
	char name[NAME_SIZE], text[64], clean[64];
	const char *before = "";

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const json_t *value = all->count ? row_param(&all->row[0], keys[i]) : NULL;
		enum unit unit = param_name_unit(keys[i], name, sizeof(name));
		bool shared = value != NULL;

		for (size_t k = 0; shared && k < all->count; k++)
			shared =
			    row_param(&all->row[k], keys[i]) && json_equal(value, row_param(&all->row[k], keys[i]));
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
	char name[NAME_SIZE] = "";
	size_t points = 0, bad = 0;

	for (size_t i = 0; i < all->count; i++) {
		/* The rows of a point are adjacent. */
		bool first = !i || all->row[i - 1].point != all->row[i].point;

		points += first;
		bad += first && !all->row[i].point->valid;
	}
	if (metric)
		param_name_unit(metric, name, sizeof(name));
	put_common(all, out);
	fprintf(out, "%s%sin us; %zu point%s", name, *name ? " " : "", points, points == 1 ? "" : "s");
	if (bad)
		fprintf(out, ", %zu not valid (!)", bad);
	fputs("\n\n", out);
}

void summary_reasons(const struct summary *const *summaries, size_t count, FILE *out)
{
	for (size_t i = 0; i < count; i++)
		put_title(summaries[i], i, count, out);
	reasons_print(summaries, count, clean_stream_width(out, WIDTH), out);
}

void summary_table(const struct summary *const *summaries, size_t count, FILE *out)
{
	struct rows all;
	struct table t;

	collect_rows(&all, summaries, count);
	for (size_t i = 0; i < count; i++)
		put_title(summaries[i], i, count, out);
	put_caption(&all, out);
	t = table_of(NULL, 0, all.count);
	add_identity(&t, &all);
	add_flow_column(&t, &all);
	add_settings(&t, &all);
	add_metric_column(&t, &all);
	add_statistic_columns(&t, &all);
	add_clock_error(&t, &all);
	add_all_blocks(&t, &all);
	table_print(&t, &(struct table_style){.width = WIDTH}, out);
	reasons_print(summaries, count, clean_stream_width(out, WIDTH), out);
	table_free(&t);
	free(all.row);
	json_decref(all.held);
}
