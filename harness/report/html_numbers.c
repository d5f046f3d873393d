/*
 * The table of numbers, and below it why points are not valid and what widens the error.
 */
#include <inttypes.h>
#include <string.h>

#include "common/units.h"
#include "report/html.h"
#include "report/labels.h"

#define CELL_MAX 128
#define MANY	 24 /* points whose table would push everything else out of sight */
#define FEW	 10 /* warnings that may be open */

static const struct {
	const char *head, *title;
} columns[] = {
    {"series", "t_lat: from submission to reception; t_comp: from submission to the send completion"},
    {"p50", "median: nearest rank, exact"},
    {"p90", "90 % of the messages were this fast or faster"},
    {"p99", "99 % of the messages were this fast or faster"},
    {"p99.9", "99.9 % of the messages were this fast or faster"},
    {"max", "the slowest message of all"},
    {"n", "messages that arrived"},
    {"lost", "messages that did not"},
    {"over limit", "share of the messages that took longer than the limit"},
    {"in flight",
     "other messages under way when one was posted, median / most: with many, latency includes waiting in line"},
    {"valid", "whether these numbers may be quoted"},
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static void write_table_head(const struct page *p)
{
	char name[CELL_MAX];

	html_printf(p, "<thead><tr><th scope=\"col\">#</th>");
	if (p->report->run_count > 1)
		html_printf(p, "<th scope=\"col\">run</th>");
	for (size_t i = 0; i < p->report->varying_count; i++) {
		html_printf(p, "<th scope=\"col\">");
		html_text(p, label_key(p->report->varying[i], name, sizeof(name)));
		html_printf(p, "</th>");
	}
	for (size_t i = 0; i < COLUMNS; i++)
		html_printf(p, "<th scope=\"col\"%s title=\"%s\">%s</th>", i && i + 1 < COLUMNS ? " class=\"n\"" : "",
			    columns[i].title, columns[i].head);
	html_printf(p, "</tr></thead>\n");
}

/* What names a point, over the rows of its series. */
static void write_point_cells(const struct page *p, const struct report_point *point, size_t rows)
{
	char value[CELL_MAX];

	html_printf(p, "<th scope=\"row\" rowspan=\"%zu\"><a href=\"#%s\">%u</a></th>", rows, point->name, point->id);
	if (p->report->run_count > 1) {
		html_printf(p, "<td rowspan=\"%zu\">", rows);
		html_text(p, p->report->runs[point->run].label);
		html_printf(p, "</td>");
	}
	for (size_t i = 0; i < p->report->varying_count; i++) {
		const char *key = p->report->varying[i];
		const json_t *j = json_object_get(point->params, key);

		html_printf(p, "<td rowspan=\"%zu\">", rows);
		html_text(p, j ? label_value(key, j, value, sizeof(value)) : "");
		html_printf(p, "</td>");
	}
}

static void write_quantile(const struct page *p, const struct report_series *s, const char *key)
{
	int64_t ns;

	if (model_metric(s, key, &ns)) {
		html_printf(p, "<td class=\"n\">");
		html_ns(p, ns);
	} else {
		html_printf(p, "<td class=\"n\" title=\"fewer than 20 messages lie beyond it\">&ndash;");
	}
	html_printf(p, "</td>");
}

static void write_count(const struct page *p, const struct report_series *s, const char *key)
{
	int64_t count;

	if (model_metric(s, key, &count))
		html_printf(p, "<td class=\"n\">%" PRId64 "</td>", count);
	else
		html_printf(p, "<td class=\"n\">&ndash;</td>");
}

/* What became of the messages, where a point says more than how many are missing. */
static void write_lost(const struct page *p, const struct report_point *point, const struct report_series *s)
{
	const json_t *loss = json_object_get(point->summary, "loss");
	int64_t lost;

	if (!json_is_object(loss) || !model_metric(s, "lost", &lost)) {
		write_count(p, s, "lost");
		return;
	}
	html_printf(p,
		    "<td class=\"n\" title=\"%" JSON_INTEGER_FORMAT " sent; %" JSON_INTEGER_FORMAT
		    " received more than once, %" JSON_INTEGER_FORMAT " after a later one\">%" PRId64 "</td>",
		    json_integer_value(json_object_get(loss, "sent")),
		    json_integer_value(json_object_get(loss, "duplicates")),
		    json_integer_value(json_object_get(loss, "reordered")), lost);
}

static void write_over_limit(const struct page *p, const struct report_point *point, const struct report_series *s)
{
	const json_t *over = json_object_get(s->metric, "over_limit");
	char limit[32];

	html_printf(p, "<td class=\"n\" title=\"over %s\">",
		    unit_format(UNIT_TIME_NS, point->limit_ns, limit, sizeof(limit)));
	if (json_is_number(over))
		html_printf(p, "%.4g %%</td>", 100 * json_number_value(over));
	else
		html_printf(p, "&ndash;</td>");
}

static void write_in_flight(const struct page *p, const struct report_point *point, size_t rows)
{
	const json_t *flight = json_object_get(point->summary, "in_flight");
	const json_t *p50 = json_object_get(flight, "p50"), *max = json_object_get(flight, "max");

	html_printf(p, "<td class=\"n\" rowspan=\"%zu\">", rows);
	if (json_is_integer(p50))
		html_printf(p, "%" JSON_INTEGER_FORMAT, json_integer_value(p50));
	else
		html_printf(p, "&ndash;");
	if (json_is_integer(max))
		html_printf(p, " / %" JSON_INTEGER_FORMAT, json_integer_value(max));
	html_printf(p, "</td>");
}

static void write_validity(const struct page *p, const struct report_point *point, size_t rows)
{
	html_printf(p, "<td rowspan=\"%zu\" title=\"", rows);
	html_text(p, model_reason(point));
	html_printf(p, model_is_valid(point) ? "\"><span class=\"yes\">valid</span></td>"
					     : "\"><span class=\"bad\">NOT VALID</span></td>");
}

static void write_series_row(const struct page *p, const struct report_point *point, size_t index, size_t rows)
{
	static const char *const quantiles[] = {"p50", "p90", "p99", "p99_9", "max"};
	const struct report_series *s = &point->series[index];

	html_printf(p, index ? "<tr class=\"second\">" : "<tr>");
	if (!index)
		write_point_cells(p, point, rows);
	html_printf(p, "<td>");
	html_text(p, s->label);
	html_printf(p, "</td>");
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++)
		write_quantile(p, s, quantiles[i]);
	write_count(p, s, "n");
	write_lost(p, point, s);
	write_over_limit(p, point, s);
	if (!index) {
		write_in_flight(p, point, rows);
		write_validity(p, point, rows);
	}
	html_printf(p, "</tr>\n");
}

static void write_no_numbers(const struct page *p, const struct report_point *point)
{
	const char *reason = html_string(point->outcome, "why", model_reason(point));

	html_printf(p, "<tr>");
	write_point_cells(p, point, 1);
	html_printf(p, "<td colspan=\"%zu\"><span class=\"bad\">", COLUMNS);
	html_text(p, model_outcome(point));
	html_printf(p, "</span>%s", *reason ? ": " : "");
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
	html_printf(p,
		    "<section>\n<h2>Numbers</h2>\n<p class=\"soft\">Latencies of every message, from the raw stamps. "
		    "Quantiles are "
		    "exact (nearest rank); &ndash; stands where fewer than 20 messages lie beyond. Pointing at a "
		    "number shows its "
		    "nanoseconds.</p>\n<div class=\"wide%s\" tabindex=\"0\">\n<table>\n",
		    p->report->count > MANY ? " tall" : "");
	write_table_head(p);
	for (size_t i = 0; i < p->report->count; i++) {
		const struct report_point *point = &p->report->points[i];

		html_printf(p, "<tbody class=\"point\">\n");
		if (has_numbers(point))
			for (size_t s = 0; s < point->series_count; s++)
				write_series_row(p, point, s, point->series_count);
		else
			write_no_numbers(p, point);
		html_printf(p, "</tbody>\n");
	}
	html_printf(p, "</table>\n</div>\n");
}

/* Reasons and warnings, each with the points it is about ------------------------------------------------- */

static bool is_about(const struct report_point *point, const char *list, const char *text)
{
	const json_t *s;
	size_t i;

	json_array_foreach (json_object_get(point->summary, list), i, s) {
		const char *other = json_string_value(s);

		if (other && !strcmp(other, text))
			return true;
	}
	return false;
}

static void write_note(const struct page *p, const char *list, const char *text, size_t first)
{
	const char *separator = "";

	for (size_t i = 0; i < first; i++)
		if (is_about(&p->report->points[i], list, text))
			return;
	html_printf(p, "<li>");
	html_text(p, text);
	html_printf(p, " <span class=\"soft\">(point ");
	for (size_t i = first; i < p->report->count; i++) {
		if (!is_about(&p->report->points[i], list, text))
			continue;
		html_printf(p, "%s", separator);
		html_point_link(p, &p->report->points[i]);
		separator = ", ";
	}
	html_printf(p, ")</span></li>\n");
}

static size_t count_notes(const struct page *p, const char *list)
{
	size_t count = 0;

	for (size_t i = 0; i < p->report->count; i++)
		count += json_array_size(json_object_get(p->report->points[i].summary, list));
	return count;
}

static void write_notes(const struct page *p, const char *list)
{
	for (size_t i = 0; i < p->report->count; i++) {
		const json_t *notes = json_object_get(p->report->points[i].summary, list);

		for (size_t k = 0; k < json_array_size(notes); k++)
			write_note(p, list, html_string_at(notes, k), i);
	}
}

/* What a run says of some of its points stands with these. */
static bool is_of_points(const char *text)
{
	static const char *const beginnings[] = {"point ", "points ", "every point: "};

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (!strncmp(text, beginnings[i], strlen(beginnings[i])))
			return true;
	return false;
}

static void write_run_notes(const struct page *p, const struct report_run *run, const char *list)
{
	const json_t *notes = json_object_get(run->run->run, list);

	for (size_t i = 0; i < json_array_size(notes); i++)
		if (!is_of_points(html_string_at(notes, i)))
			html_item(p, html_string_at(notes, i));
}

static const struct {
	const char *list, *heading;
	bool always_open;
} notes[] = {
    {"reasons", "Why it is not valid", true},
    {"warnings", "What widens the error, without making it invalid", false},
};

void html_notes(const struct page *p)
{
	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		size_t count = count_notes(p, notes[i].list);

		for (size_t k = 0; k < p->report->run_count; k++)
			count += json_array_size(json_object_get(p->report->runs[k].run->run, notes[i].list));
		if (!count)
			continue;
		html_printf(p, "<details%s><summary><b>%s</b></summary>\n<ul>\n",
			    notes[i].always_open || count <= FEW ? " open" : "", notes[i].heading);
		for (size_t k = 0; k < p->report->run_count; k++)
			write_run_notes(p, &p->report->runs[k], notes[i].list);
		write_notes(p, notes[i].list);
		html_printf(p, "</ul>\n</details>\n");
	}
	html_printf(p, "</section>\n");
}
