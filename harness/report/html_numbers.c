#include "report/html_numbers.h"

#include <stdlib.h>

#include "analysis/blocks.h"
#include "analysis/param.h"
#include "common/or_abort.h"
#include "common/units.h"
#include "report/labels.h"
#include "rundir/flows.h"

#define CELL_MAX 128
#define MANY	 24 /* with this many points, the table would push everything else out of sight */

/* A column with a statistic of a summary block. */
struct block_column {
	const struct block *block;
	const struct block_statistic *statistic;
};

/* The table, and its columns. */
struct numbers {
	const struct page *p;
	bool runs, flows, in_flight, start;
	struct block_column *blocks;
	size_t block_count;
	size_t columns; /* after those with the names of the point and the flow */
};

/* A row: one series. */
struct row {
	const struct report_point *point;
	const struct report_series *series;
	size_t of_point, of_flow; /* if this is the first row of a point or flow, the number of its rows; otherwise 0 */
};

/* --- columns --- */

static const json_t *flow_json(const struct report_point *point, const struct layout_flow *flow, const char *key)
{
	return flows_get(point->summary, flow->name, key);
}

/* A round trip has nothing else in flight: null. */
static bool has_in_flight(const struct report *r)
{
	for (size_t i = 0; i < r->leading_count; i++) {
		const json_t *flight = flow_json(r->leading[i].point, r->leading[i].series->flow, "in_flight");

		if (json_is_integer(json_object_get(flight, "max")))
			return true;
	}
	return false;
}

static bool has_start(const struct report *r)
{
	for (size_t i = 0; i < r->count; i++)
		if (json_object_get(r->points[i].summary, "start"))
			return true;
	return false;
}

/* Is the number known for any flow? */
static bool is_known(const struct report *r, const struct block *b, const char *key)
{
	for (size_t i = 0; i < r->count; i++)
		for (size_t k = 0; k < r->points[i].layout.flow_count; k++) {
			const json_t *block = flow_json(&r->points[i], &r->points[i].layout.flows[k], b->name);

			if (json_is_number(json_object_get(block, key)))
				return true;
		}
	return false;
}

static void take_block(struct numbers *n, const struct block *b)
{
	for (const struct block_statistic *s = b->statistics; s->key; s++) {
		if (!(s->shown & SHOWN_REPORT) || !is_known(n->p->report, b, s->key))
			continue;
		n->blocks = grow_or_abort(n->blocks, n->block_count, sizeof(*n->blocks));
		n->blocks[n->block_count++] = (struct block_column){b, s};
	}
}

static struct numbers numbers_of(const struct page *p)
{
	const struct report *r = p->report;
	struct numbers n = {
	    .p = p,
	    .runs = r->run_count > 1,
	    .flows = model_has_flows(r),
	    .in_flight = has_in_flight(r),
	    .start = has_start(r),
	};

	for (size_t i = 0; blocks[i]; i++)
		take_block(&n, blocks[i]);
	return n;
}

/* --- the head --- */

static void write_heading(const struct page *p, const char *style, const char *title, const char *text)
{
	html_printf(p, "<th scope=\"col\"%s", style);
	if (title) {
		html_printf(p, " title=\"");
		html_text(p, title);
		html_printf(p, "\"");
	}
	html_printf(p, ">");
	html_text(p, text);
	html_printf(p, "</th>");
}

static void write_number_heading(struct numbers *n, const char *title, const char *text)
{
	write_heading(n->p, " class=\"n\"", title, text);
	n->columns++;
}

static void write_number_headings(struct numbers *n)
{
	for (size_t i = 0; i < STATISTICS; i++)
		if (statistics[i].shown & SHOWN_REPORT)
			write_number_heading(n, statistics[i].help, statistics[i].label);
	if (n->in_flight)
		write_number_heading(n,
				     "number of other messages in flight when one was posted, median / maximum; with "
				     "many, latency includes queueing",
				     "in flight");
	for (size_t i = 0; i < n->block_count; i++)
		write_number_heading(n, n->blocks[i].statistic->help, n->blocks[i].statistic->label);
	if (n->start)
		write_number_heading(n, "largest difference between the first posts of a repetition's flows",
				     "start spread");
}

static void write_table_head(struct numbers *n)
{
	const struct report_keys *keys = &n->p->report->in_flows;
	char name[CELL_MAX];

	html_printf(n->p, "<thead><tr><th scope=\"col\">#</th>");
	write_heading(n->p, "", "whether these numbers may be quoted", "valid");
	if (n->runs)
		write_heading(n->p, "", NULL, "run");
	if (n->flows)
		write_heading(n->p, "", NULL, "flow");
	for (size_t i = 0; i < keys->count; i++)
		write_heading(n->p, "", NULL, label_key(keys->key[i], name, sizeof(name)));
	write_heading(n->p, "", "t_lat: from submission to reception; t_comp: from submission to the send completion",
		      "series");
	write_number_headings(n);
	n->columns++;
	html_printf(n->p, "</tr></thead>\n");
}

/* --- names of rows --- */

static void write_validity(const struct page *p, const struct report_point *point, size_t rows, const char *text)
{
	html_printf(p, "<td rowspan=\"%zu\" title=\"", rows);
	html_text(p, model_reason(point));
	html_printf(p, "\"><span class=\"%s\">", model_is_valid(point) ? "yes" : "bad");
	html_text(p, text);
	html_printf(p, "</span></td>");
}

/* Cells that span the rows of a point's series. */
static void write_point_cells(const struct page *p, const struct report_point *point, size_t rows, const char *validity)
{
	html_printf(p, "<th scope=\"row\" rowspan=\"%zu\"><a href=\"#%s\">%u</a></th>", rows, point->name, point->id);
	write_validity(p, point, rows, validity);
	if (p->report->run_count > 1) {
		html_printf(p, "<td rowspan=\"%zu\">", rows);
		html_text(p, p->report->runs[point->run].label);
		html_printf(p, "</td>");
	}
}

static void text_cell(const struct page *p, size_t rows, const char *text)
{
	html_printf(p, "<td rowspan=\"%zu\">", rows);
	html_text(p, text);
	html_printf(p, "</td>");
}

static void write_flow_cells(const struct numbers *n, const struct layout_flow *flow, size_t rows)
{
	const struct report_keys *keys = &n->p->report->in_flows;
	char value[CELL_MAX];

	if (n->flows)
		text_cell(n->p, rows, flow->name);
	for (size_t i = 0; i < keys->count; i++) {
		const json_t *j = json_object_get(flow->params, keys->key[i]);

		text_cell(n->p, rows, j ? label_value(keys->key[i], j, value, sizeof(value)) : "");
	}
}

/* --- numbers --- */

/* Explain a count of losses, if the flow has further counts. */
static void write_lost_title(const struct page *p, const struct row *row)
{
	const json_t *loss = flow_json(row->point, row->series->flow, "loss");

	if (!json_is_object(loss))
		return;
	html_printf(p,
		    " title=\"%" JSON_INTEGER_FORMAT " sent; %" JSON_INTEGER_FORMAT
		    " received more than once, %" JSON_INTEGER_FORMAT " after a later one\"",
		    json_integer_value(json_object_get(loss, "sent")),
		    json_integer_value(json_object_get(loss, "duplicates")),
		    json_integer_value(json_object_get(loss, "reordered")));
}

static void write_title(const struct page *p, const struct row *row, size_t statistic, const json_t *value)
{
	char limit[32];

	if (statistic == STATISTIC_LOST)
		write_lost_title(p, row);
	else if (statistic == STATISTIC_OVER_LIMIT)
		html_printf(p, " title=\"over %s\"",
			    unit_format(UNIT_TIME_NS, row->series->flow->limit_ns, limit, sizeof(limit)));
	else if (statistics[statistic].quantile < QUANTILES && !json_is_number(value))
		html_printf(p, " title=\"fewer than 20 messages lie beyond it\"");
}

/* In the unit of the series, which its name contains. */
static void write_as_series(const struct page *p, const struct row *row, double number)
{
	char name[CELL_MAX];

	if (param_name_unit(row->series->name, name, sizeof(name)) == UNIT_TIME_NS)
		html_ns_near(p, number);
	else
		html_printf(p, "%.6g", number);
}

static void write_share(const struct page *p, const struct row *row, double number)
{
	(void)row;
	html_printf(p, "%.4g %%", 100 * number);
}

static void write_count(const struct page *p, const struct row *row, double number)
{
	(void)row;
	html_printf(p, "%.0f", number);
}

/* From 1000 on, all digits before the decimal point. */
static void write_four_digits(const struct page *p, double number)
{
	html_printf(p, number < 999.95 ? "%.4g" : "%.0f", number);
}

/* In thousands, as the label says: "kHz". */
static void write_thousands(const struct page *p, const struct row *row, double number)
{
	(void)row;
	write_four_digits(p, number / 1e3);
}

/* In millions, likewise: "MB/s". */
static void write_millions(const struct page *p, const struct row *row, double number)
{
	(void)row;
	write_four_digits(p, number / 1e6);
}

static void write_ratio(const struct page *p, const struct row *row, double number)
{
	(void)row;
	write_four_digits(p, number);
}

static void (*const forms[])(const struct page *p, const struct row *row, double number) = {
    [MEASURE_SERIES] = write_as_series, [MEASURE_SHARE] = write_share, [MEASURE_COUNT] = write_count,
    [MEASURE_RATE] = write_thousands,	[MEASURE_BYTES] = write_count, [MEASURE_BYTE_RATE] = write_millions,
    [MEASURE_RATIO] = write_ratio,
};

static void number_cell(const struct page *p, const struct row *row, enum measure measure, const json_t *value)
{
	if (json_is_number(value))
		forms[measure](p, row, json_number_value(value));
	else
		html_printf(p, "&ndash;");
	html_printf(p, "</td>");
}

static void write_statistic(const struct page *p, const struct row *row, size_t i)
{
	const json_t *value = json_object_get(row->series->metric, statistics[i].key);

	html_printf(p, "<td class=\"n\"");
	write_title(p, row, i, value);
	html_printf(p, ">");
	number_cell(p, row, statistics[i].measure, value);
}

static void write_block_statistic(const struct page *p, const struct row *row, const struct block_column *c)
{
	const json_t *block = flow_json(row->point, row->series->flow, c->block->name);
	const char *why = json_string_value(json_object_get(block, "why"));

	html_printf(p, "<td class=\"n\" rowspan=\"%zu\"", row->of_flow);
	if (why) {
		html_printf(p, " title=\"");
		html_text(p, why);
		html_printf(p, "\"");
	}
	html_printf(p, ">");
	if (json_is_object(block))
		number_cell(p, row, c->statistic->measure, json_object_get(block, c->statistic->key));
	else
		html_printf(p, "</td>");
}

static void write_in_flight(const struct page *p, const struct row *row)
{
	const json_t *flight = flow_json(row->point, row->series->flow, "in_flight");
	const json_t *p50 = json_object_get(flight, "p50"), *max = json_object_get(flight, "max");

	html_printf(p, "<td class=\"n\" rowspan=\"%zu\">", row->of_flow);
	if (json_is_integer(p50))
		html_printf(p, "%" JSON_INTEGER_FORMAT, json_integer_value(p50));
	else if (json_is_integer(max))
		html_printf(p, "&ndash;");
	if (json_is_integer(max))
		html_printf(p, " / %" JSON_INTEGER_FORMAT, json_integer_value(max));
	html_printf(p, "</td>");
}

static void write_start(const struct page *p, const struct report_point *point, size_t rows)
{
	const json_t *spread = json_object_get(json_object_get(point->summary, "start"), "spread_ns");

	html_printf(p, "<td class=\"n\" rowspan=\"%zu\">", rows);
	if (json_is_number(spread))
		html_ns_near(p, json_number_value(spread));
	html_printf(p, "</td>");
}

/* --- rows --- */

static void write_flow_numbers(const struct numbers *n, const struct row *row)
{
	if (n->in_flight)
		write_in_flight(n->p, row);
	for (size_t i = 0; i < n->block_count; i++)
		write_block_statistic(n->p, row, &n->blocks[i]);
}

/* For a series with stamps of two hosts' clocks. */
static void write_clock_error(const struct page *p, const struct row *row)
{
	const json_t *error = json_object_get(row->series->metric, CLOCK_ERROR_KEY);

	if (!json_is_integer(error))
		return;
	html_printf(p, " <span class=\"soft\" title=\"%s\">&plusmn; ", CLOCK_ERROR_HELP);
	html_ns(p, json_integer_value(error));
	html_printf(p, "</span>");
}

static void numbers_row(const struct numbers *n, const struct row *row)
{
	const struct page *p = n->p;

	html_printf(p, row->of_flow ? "<tr>" : "<tr class=\"second\">");
	if (row->of_point)
		write_point_cells(p, row->point, row->of_point, model_is_valid(row->point) ? "valid" : "NOT VALID");
	if (row->of_flow)
		write_flow_cells(n, row->series->flow, row->of_flow);
	html_printf(p, "<td>");
	html_text(p, row->series->label);
	write_clock_error(p, row);
	html_printf(p, "</td>");
	for (size_t i = 0; i < STATISTICS; i++)
		if (statistics[i].shown & SHOWN_REPORT)
			write_statistic(p, row, i);
	if (row->of_flow)
		write_flow_numbers(n, row);
	if (row->of_point && n->start)
		write_start(p, row->point, row->of_point);
	html_printf(p, "</tr>\n");
}

static size_t rows_of_flow(const struct report_point *point, const struct layout_flow *flow)
{
	size_t rows = 0;

	for (size_t i = 0; i < point->series_count; i++)
		rows += point->series[i].flow == flow;
	return rows;
}

static void write_rows(const struct numbers *n, const struct report_point *point)
{
	for (size_t i = 0; i < point->series_count; i++) {
		const struct report_series *s = &point->series[i];
		bool begins_flow = !i || s[-1].flow != s->flow;

		numbers_row(n, &(struct row){.point = point,
					     .series = s,
					     .of_point = i ? 0 : point->series_count,
					     .of_flow = begins_flow ? rows_of_flow(point, s->flow) : 0});
	}
}

/* If a point has several flows, their settings are in its label. */
static void write_no_numbers(const struct numbers *n, const struct report_point *point)
{
	const char *reason = html_string(point->outcome, "why", model_reason(point));
	const struct page *p = n->p;

	html_printf(p, "<tr>");
	write_point_cells(p, point, 1, model_outcome(point));
	if (point->layout.flow_count == 1) {
		write_flow_cells(n, &point->layout.flows[0], 1);
	} else {
		html_printf(p, "<td colspan=\"%zu\">", 1 + p->report->in_flows.count);
		html_text(p, point->label);
		html_printf(p, "</td>");
	}
	html_printf(p, "<td colspan=\"%zu\">", n->columns);
	html_text(p, reason);
	html_printf(p, "</td></tr>\n");
}

static bool has_numbers(const struct report_point *point)
{
	for (size_t i = 0; i < point->series_count; i++)
		if (json_integer_value(json_object_get(point->series[i].metric, "n")) > 0)
			return true;
	return false;
}

void html_numbers(const struct page *p)
{
	struct numbers n = numbers_of(p);

	html_printf(
	    p,
	    "<section>\n<h2>Numbers</h2>\n<p class=\"soft\">Latencies of every message, from the raw stamps. "
	    "Quantiles are exact (nearest rank); &ndash; means that fewer than 20 messages lie beyond the quantile. "
	    "Point at a number to see it in nanoseconds.</p>\n<div class=\"wide%s\" tabindex=\"0\">\n<table>\n",
	    p->report->count > MANY ? " tall" : "");
	write_table_head(&n);
	for (size_t i = 0; i < p->report->count; i++) {
		const struct report_point *point = &p->report->points[i];

		html_printf(p, "<tbody class=\"point\">\n");
		if (has_numbers(point))
			write_rows(&n, point);
		else
			write_no_numbers(&n, point);
		html_printf(p, "</tbody>\n");
	}
	html_printf(p, "</table>\n</div>\n");
	free(n.blocks);
}
