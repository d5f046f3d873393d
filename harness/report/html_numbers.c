#include "report/html_blocks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/or_abort.h"
#include "common/units.h"
#include "judge/analysis/param.h"
#include "report/html.h"
#include "report/labels.h"

#define CELL_MAX 128
#define MANY	 24 /* with this many points, the table would push everything else out of sight */

/* A column with a statistic of a summary block. */
struct block_column {
	const struct block *block;
	const struct block_statistic *statistic;
};

/* The table, and where in it what is; the columns that need not be there are NONE then. */
struct numbers {
	const struct report *r;
	const struct report_run *run_only; /* NULL: it is that of all runs */
	struct table t;
	struct report_keys settings;
	struct block_column *blocks;
	size_t block_count;
	size_t run, flow, keys, series, statistics, in_flight, first_block, start;
};

#define NONE SIZE_MAX

/* --- columns --- */

static bool has_point(const struct numbers *n, const struct report_point *point)
{
	return !n->run_only || n->run_only == &n->r->runs[point->run];
}

/* A round trip has nothing else in flight: not known. */
static bool has_in_flight(const struct numbers *n)
{
	for (size_t i = 0; i < n->r->leading_count; i++) {
		const struct report_item *leading = &n->r->leading[i];
		const struct summary_flow *flow = model_flow(leading->point, leading->series->flow);

		if (has_point(n, leading->point) && flow && flow->in_flight_max.kind == NUMBER_INTEGER)
			return true;
	}
	return false;
}

static bool has_start(const struct numbers *n)
{
	for (size_t i = 0; i < n->r->count; i++) {
		const struct report_point *point = &n->r->points[i];

		if (has_point(n, point) && point->summary && point->summary->spread_ns.kind != NUMBER_ABSENT)
			return true;
	}
	return false;
}

/* Is the number known for any flow? */
static bool is_known_for_any(const struct numbers *n, const struct block *b, const struct block_statistic *s)
{
	for (size_t i = 0; i < n->r->count; i++) {
		const struct report_point *point = &n->r->points[i];

		for (size_t k = 0; has_point(n, point) && k < point->layout.flow_count; k++)
			if (number_is_known(summary_block_number(model_block(point, &point->layout.flows[k], b), s)))
				return true;
	}
	return false;
}

static size_t numbers_column(struct numbers *n, const char *label, const char *help, enum table_align align)
{
	return table_add(&n->t, &(struct table_column){.label = label, .help = help, .align = align});
}

static void add_block_columns(struct numbers *n, const struct block *b)
{
	for (const struct block_statistic *s = b->statistics; s->key; s++) {
		if (!(s->shown & SHOWN_REPORT) || !is_known_for_any(n, b, s))
			continue;
		n->blocks = grow_or_abort(n->blocks, n->block_count, sizeof(*n->blocks));
		n->blocks[n->block_count++] = (struct block_column){b, s};
		numbers_column(n, s->label, s->help, TABLE_RIGHT);
	}
}

static void add_number_columns(struct numbers *n)
{
	n->statistics = n->t.columns;
	for (size_t i = 0; i < STATISTICS; i++)
		if (statistics[i].shown & SHOWN_REPORT)
			numbers_column(n, statistics[i].label, statistics[i].help, TABLE_RIGHT);
	if (has_in_flight(n))
		n->in_flight = numbers_column(n, "in flight",
					      "number of other messages in flight when one was posted, median / "
					      "maximum; with many, latency includes queueing",
					      TABLE_RIGHT);
	n->first_block = n->t.columns;
	for (size_t i = 0; blocks[i]; i++)
		add_block_columns(n, blocks[i]);
	if (has_start(n))
		n->start =
		    numbers_column(n, "start spread",
				   "largest difference between the first posts of a repetition's flows", TABLE_RIGHT);
}

enum { POINT, VALID }; /* the first columns */

static void add_setting_columns(struct numbers *n)
{
	char name[CELL_MAX];

	n->keys = n->t.columns;
	for (size_t i = 0; i < n->r->in_flows.count; i++) {
		const char *key = n->r->in_flows.key[i];

		if (n->run_only && !json_object_get(n->run_only->varying, key))
			continue;
		n->settings.key = grow_or_abort(n->settings.key, n->settings.count, sizeof(*n->settings.key));
		n->settings.key[n->settings.count++] = key;
		numbers_column(n, label_key(key, name, sizeof(name)), NULL, TABLE_LEFT);
	}
}

static struct numbers numbers_of(const struct report *r, const struct report_run *run_only)
{
	static const struct table_column first[] = {
	    [POINT] = {.label = "#", .heads_row = true},
	    [VALID] = {.label = "valid", .help = "whether these numbers may be quoted"},
	};
	struct numbers n = {.r = r, .run_only = run_only, .run = NONE, .flow = NONE, .in_flight = NONE, .start = NONE};

	n.t = table_of(first, sizeof(first) / sizeof(*first), 0);
	if (r->run_count > 1 && !run_only)
		n.run = numbers_column(&n, "run", NULL, TABLE_LEFT);
	if (model_has_flows(r, run_only))
		n.flow = numbers_column(&n, "flow", NULL, TABLE_LEFT);
	add_setting_columns(&n);
	n.series = numbers_column(&n, "series",
				  "t_lat: from submission to reception; t_comp: from submission to the send completion",
				  TABLE_LEFT);
	add_number_columns(&n);
	return n;
}

/* --- cells that are those of all rows of a point, or of a flow --- */

static void spanning_text(struct numbers *n, size_t column, size_t row, unsigned rows, const char *text)
{
	table_text(&n->t, column, row, "%s", text);
	table_cover(&n->t, column, row, rows, 1);
}

static void put_point(struct numbers *n, size_t row, const struct report_point *point, unsigned rows,
		      const char *validity)
{
	table_count(&n->t, POINT, row, point->id);
	table_link(&n->t, POINT, row, "#%s", point->name);
	table_cover(&n->t, POINT, row, rows, 1);
	table_verdict(&n->t, VALID, row, model_is_valid(point) ? TONE_GOOD : TONE_BAD, validity);
	table_help(&n->t, VALID, row, "%s", model_reason(point));
	table_cover(&n->t, VALID, row, rows, 1);
	if (n->run != NONE)
		spanning_text(n, n->run, row, rows, n->r->runs[point->run].label);
	n->t.row[row].begins = true;
}

static void put_start(struct numbers *n, size_t row, const struct report_point *point, unsigned rows)
{
	if (n->start == NONE)
		return;
	if (number_is_known(point->summary->spread_ns))
		table_number(&n->t, n->start, row, number_value(point->summary->spread_ns));
	table_cover(&n->t, n->start, row, rows, 1);
}

static void put_flow(struct numbers *n, size_t row, const struct layout_flow *flow, unsigned rows)
{
	char value[CELL_MAX];

	if (n->flow != NONE)
		spanning_text(n, n->flow, row, rows, flow->name);
	for (size_t i = 0; i < n->settings.count; i++) {
		const char *key = n->settings.key[i];
		const json_t *j = json_object_get(flow->params, key);

		spanning_text(n, n->keys + i, row, rows, j ? label_value(key, j, value, sizeof(value)) : "");
	}
}

static void put_in_flight(struct numbers *n, size_t row, const struct summary_flow *flow, unsigned rows)
{
	char p50[32] = "–";

	if (n->in_flight == NONE)
		return;
	if (flow && flow->in_flight_p50.kind == NUMBER_INTEGER)
		snprintf(p50, sizeof(p50), "%" JSON_INTEGER_FORMAT, number_count(flow->in_flight_p50));
	if (flow && flow->in_flight_max.kind == NUMBER_INTEGER)
		table_text(&n->t, n->in_flight, row, "%s / %" JSON_INTEGER_FORMAT, p50,
			   number_count(flow->in_flight_max));
	table_cover(&n->t, n->in_flight, row, rows, 1);
}

static void put_blocks(struct numbers *n, size_t row, const struct report_point *point, const struct layout_flow *flow,
		       unsigned rows)
{
	for (size_t i = 0; i < n->block_count; i++) {
		const struct block_statistic *s = n->blocks[i].statistic;
		const struct summary_block *block = model_block(point, flow, n->blocks[i].block);
		size_t column = n->first_block + i;

		if (block)
			table_measure(&n->t, column, row, s->measure, number_value(summary_block_number(block, s)));
		if (block && block->why)
			table_help(&n->t, column, row, "%s", block->why);
		table_cover(&n->t, column, row, rows, 1);
	}
}

/* --- a series --- */

static void put_series(struct numbers *n, size_t row, const struct report_series *s)
{
	char error[32];

	table_text(&n->t, n->series, row, "%s", s->label);
	if (!s->metric || s->metric->clock_error.kind != NUMBER_INTEGER)
		return;
	/* It has stamps of two hosts' clocks. */
	table_remark(&n->t, n->series, row, "± %s",
		     unit_human_ns(number_count(s->metric->clock_error), error, sizeof(error)));
	table_help(&n->t, n->series, row, "%s", CLOCK_ERROR_HELP);
}

static void add_count(FILE *out, json_int_t count, const char *what)
{
	if (count)
		fprintf(out, "; %" JSON_INTEGER_FORMAT " %s", count, what);
}

/* Explain a count of losses, if the flow has further counts. */
static void explain_lost(struct numbers *n, size_t column, size_t row, const struct summary_flow *flow)
{
	char *text = NULL;
	size_t size;
	FILE *out;

	if (!flow || !flow->loss.is_known)
		return;
	out = or_abort(open_memstream(&text, &size));
	fprintf(out, "%" JSON_INTEGER_FORMAT " sent", flow->loss.sent);
	add_count(out, flow->loss.duplicates, "received more than once");
	add_count(out, flow->loss.reordered, "received after a later one");
	fclose(out);
	table_help(&n->t, column, row, "%s", text);
	free(text);
}

static void explain_statistic(struct numbers *n, size_t column, size_t row, const struct report_item *of,
			      size_t statistic)
{
	char limit[32];

	if (statistic == STATISTIC_LOST)
		explain_lost(n, column, row, model_flow(of->point, of->series->flow));
	else if (statistic == STATISTIC_OVER_LIMIT)
		table_help(&n->t, column, row, "over %s",
			   unit_format(UNIT_TIME_NS, of->series->flow->limit_ns, limit, sizeof(limit)));
}

/* Statistics are in the unit of the series, which its name contains. */
static void put_statistics(struct numbers *n, size_t row, const struct report_item *of)
{
	char name[CELL_MAX];
	bool is_time = param_name_unit(of->series->name, name, sizeof(name)) == UNIT_TIME_NS;
	size_t column = n->statistics;

	for (size_t i = 0; i < STATISTICS; i++) {
		enum measure measure = statistics[i].measure;

		if (!(statistics[i].shown & SHOWN_REPORT))
			continue;
		measure = measure == MEASURE_SERIES && !is_time ? MEASURE_NUMBER : measure;
		table_measure(&n->t, column, row, measure, number_value(model_number(of->series, i)));
		explain_statistic(n, column, row, of, i);
		column++;
	}
}

/* --- rows --- */

static unsigned rows_of_flow(const struct report_point *point, const struct layout_flow *flow)
{
	unsigned rows = 0;

	for (size_t i = 0; i < point->series_count; i++)
		rows += point->series[i].flow == flow;
	return rows;
}

static void put_rows(struct numbers *n, const struct report_point *point)
{
	size_t first = n->t.rows;

	for (size_t i = 0; i < point->series_count; i++)
		table_row(&n->t);
	put_point(n, first, point, (unsigned)point->series_count, model_is_valid(point) ? "valid" : "NOT VALID");
	put_start(n, first, point, (unsigned)point->series_count);
	for (size_t i = 0; i < point->series_count; i++) {
		const struct report_series *s = &point->series[i];
		size_t row = first + i;

		put_series(n, row, s);
		put_statistics(n, row, &(struct report_item){point, s});
		n->t.row[row].minor = i && s[-1].flow == s->flow;
		if (n->t.row[row].minor)
			continue;
		put_flow(n, row, s->flow, rows_of_flow(point, s->flow));
		put_in_flight(n, row, model_flow(point, s->flow), rows_of_flow(point, s->flow));
		put_blocks(n, row, point, s->flow, rows_of_flow(point, s->flow));
	}
}

/* If a point has several flows, their settings are in its label. */
static void put_no_numbers(struct numbers *n, const struct report_point *point)
{
	const char *why = html_string(point->outcome, "why", model_reason(point));
	size_t row = table_row(&n->t), label = n->flow != NONE ? n->flow : n->keys;

	put_point(n, row, point, 1, model_outcome(point));
	if (point->layout.flow_count == 1) {
		put_flow(n, row, &point->layout.flows[0], 1);
	} else {
		table_text(&n->t, label, row, "%s", point->label);
		table_cover(&n->t, label, row, 1, (unsigned)(n->series - label));
	}
	table_text(&n->t, n->series, row, "%s", why);
	table_cover(&n->t, n->series, row, 1, (unsigned)(n->t.columns - n->series));
}

static bool has_numbers(const struct report_point *point)
{
	for (size_t i = 0; i < point->series_count; i++)
		if (number_count(model_number(&point->series[i], STATISTIC_N)) > 0)
			return true;
	return false;
}

static void free_numbers(struct numbers *n)
{
	table_free(&n->t);
	free(n->settings.key);
	free(n->blocks);
}

static void write_numbers(const struct page *p, const struct report_run *run_only, html_table_writer *write)
{
	struct numbers n = numbers_of(p->report, run_only);
	size_t points = 0;

	for (size_t i = 0; i < p->report->count; i++) {
		const struct report_point *point = &p->report->points[i];

		if (!has_point(&n, point))
			continue;
		points++;
		if (has_numbers(point))
			put_rows(&n, point);
		else
			put_no_numbers(&n, point);
	}
	write(p, &n.t, "", points > MANY);
	free_numbers(&n);
}

/* Different experiments have different settings and statistics: each has a table of its own. */
static void write_experiments(const struct page *p)
{
	struct numbers all = numbers_of(p->report, NULL);

	for (size_t i = 0; i < p->report->run_count; i++) {
		html_run_heading(p, &p->report->runs[i]);
		write_numbers(p, &p->report->runs[i], html_rows);
	}
	html_columns(p, &all.t);
	free_numbers(&all);
}

void html_numbers(const struct page *p)
{
	html_printf(
	    p, "<section>\n<h2>Numbers</h2>\n<p class=\"soft\">Latencies of every message, from the raw stamps. "
	       "Quantiles are exact (nearest rank); &ndash; means that fewer than 20 messages lie beyond the quantile. "
	       "Point at a number, or tap it, to see it in nanoseconds.</p>\n");
	if (p->report->of_experiments)
		write_experiments(p);
	else
		write_numbers(p, NULL, html_table);
}
