#include "report/figure_overview.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "report/escape.h"

#define FEW	     8	 /* up to this many points, labels are horizontal, with one value per line */
#define LABELS_MAX   150 /* more are unreadable */
#define BEYOND	     20	 /* samples required on the outer side of a quantile, as everywhere */
#define WIDTH_MIN    800
#define WIDTH_MAX    2400
#define SIDES	     90 /* pixels left and right of the points */
#define ROOM	     18 /* for each */
#define ROOM_UPRIGHT 80
#define USUAL	     2	 /* number of series for which that is sufficient */
#define ROOM_SERIES  9	 /* for each further series */
#define PLOT_HEIGHT  380 /* including the title */
#define LABEL_MAX    56
#define NOT_VALID    "not valid" /* text in the key */

/* Series of all kernels, by key. */
struct columns {
	const struct report_series **series; /* the first of each key */
	size_t count, drawn;
	struct figure_range range; /* ns, over what is drawn */
};

static const struct report_series *series_of_key(const struct report_point *p, const char *key)
{
	for (size_t i = 0; i < p->series_count; i++)
		if (!strcmp(p->series[i].key, key))
			return &p->series[i];
	return NULL;
}

static void add_column(struct columns *c, const struct report_series *s)
{
	for (size_t i = 0; i < c->count; i++)
		if (!strcmp(c->series[i]->key, s->key))
			return;
	if (!model_is_measured(s))
		return;
	c->series = grow_or_abort(c->series, c->count, sizeof(*c->series));
	c->series[c->count++] = s;
}

static void find_columns(struct columns *c, const struct report *r)
{
	for (size_t i = 0; i < r->count; i++)
		for (size_t s = 0; s < r->points[i].series_count; s++)
			add_column(c, &r->points[i].series[s]);
	c->drawn = figure_choose_series(c->series, c->count);
}

/* --- the table --- */

struct cell {
	const char *name;
	double p;	 /* 0: taken from the summary */
	const char *key; /* there */
};

/* The summary does not contain lower quantiles; the histogram gives them exactly. */
static const struct cell cells[] = {
    {"p10_ns", 0.1, NULL}, {"p50_ns", 0, "p50"}, {"p90_ns", 0, "p90"}, {"p99_ns", 0, "p99"}};

#define CELLS (sizeof(cells) / sizeof(cells[0]))

static bool cell_value(const struct report_series *s, const struct cell *cell, int64_t *value)
{
	if (!s)
		return false;
	if (cell->key)
		return model_metric(s, cell->key, value);
	return model_quantile(s, cell->p, BEYOND, value);
}

static void overview_cell(FILE *table, struct columns *c, const struct report_series *s, const struct cell *cell)
{
	int64_t value;

	fputc('\t', table);
	/* A logarithmic axis can only show positive values. */
	if (!cell_value(s, cell, &value))
		return;
	fprintf(table, "%" PRId64, value);
	figure_range_add(&c->range, value);
}

static void write_header(FILE *table, const struct columns *c)
{
	fputs("x\tvalid", table);
	for (size_t s = 0; s < c->count; s++)
		for (size_t k = 0; k < CELLS; k++) {
			fputc('\t', table);
			escape_tsv(table, c->series[s]->label);
			fprintf(table, "_%s", cells[k].name);
		}
	fputs("\trun\tpoint\tlabel\n", table);
}

/* Texts come last: gnuplot takes a quotation mark in a cell for the beginning of a string, and
 * would misread the following columns. */
static void overview_row(FILE *table, struct columns *c, const struct report *r, size_t i)
{
	const struct report_point *p = &r->points[i];

	fprintf(table, "%zu\t%d", i + 1, model_is_valid(p));
	for (size_t s = 0; s < c->count; s++)
		for (size_t k = 0; k < CELLS; k++)
			overview_cell(table, c, series_of_key(p, c->series[s]->key), &cells[k]);
	fputc('\t', table);
	escape_tsv(table, r->runs[p->run].label);
	fprintf(table, "\t%u\t", p->id);
	escape_tsv(table, p->label);
	fputc('\n', table);
}

/* --- variables --- */

/* gnuplot treats a tic's label as a format. "a, b" -> "a\nb" if there is room. */
static void print_label(FILE *out, const char *raw, bool upright)
{
	char text[LABEL_MAX];

	text_clean(raw, strlen(raw), text, sizeof(text));
	for (const char *at = text; *at; at++) {
		if (upright && at[0] == ',' && at[1] == ' ') {
			fputc('\n', out);
			at++;
			continue;
		}
		fputs(*at == '%' ? "%" : "", out);
		fputc(*at, out);
	}
}

static char *overview_label(const struct report *r, const struct report_point *p, bool upright)
{
	char *label = NULL;
	size_t size;
	FILE *out = or_abort(open_memstream(&label, &size));

	if (r->run_count > 1) {
		print_label(out, r->runs[p->run].label, false);
		fputs(upright ? "\n" : ": ", out);
	}
	print_label(out, p->label, upright);
	fclose(out);
	return label;
}

/* The height of a label: its width if it is rotated, its lines if it is horizontal. */
static size_t label_pixels(const char *label, bool upright)
{
	size_t lines = 1, columns = 0;

	for (; *label; label++) {
		lines += *label == '\n';
		/* Continuation bytes of a character have no width. */
		columns += (*label & 0xc0) != 0x80;
	}
	return upright ? 8 + 17 * lines : 10 + (13 * columns) / 2;
}

static size_t room_of_point(const struct columns *c, bool upright)
{
	size_t more = c->drawn > USUAL ? c->drawn - USUAL : 0;

	return (upright ? ROOM_UPRIGHT : ROOM) + more * ROOM_SERIES;
}

static size_t overview_width(const struct report *r, const struct columns *c, bool upright)
{
	size_t width = SIDES + r->count * room_of_point(c, upright);

	return width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width;
}

/* Returns the height that the labels take, in pixels. */
static size_t overview_labels(struct figures *f, const struct report *r, bool upright)
{
	size_t most = 0;

	figure_set_array(f, "labels", r->count);
	for (size_t i = 0; i < r->count; i++) {
		char *label = overview_label(r, &r->points[i], upright);
		size_t pixels = label_pixels(label, upright);

		figure_set_item(f, "labels", i, label);
		most = pixels > most ? pixels : most;
		free(label);
	}
	fprintf(f->script, "points = %zu\nrotate = %d\nlabel_every = %zu\nlabel_height = %zu\n", r->count, !upright,
		1 + r->count / LABELS_MAX, most);
	return most;
}

/* Whole decades are easiest to read, but half of the axis would be empty if values are close together. */
static double round_down(double ns)
{
	double decade = pow(10, floor(log10(ns)));

	return ns >= 5 * decade ? 5 * decade : ns >= 2 * decade ? 2 * decade : decade;
}

static double round_up(double ns)
{
	double decade = pow(10, floor(log10(ns)));

	return ns < 2 * decade ? 2 * decade : ns < 5 * decade ? 5 * decade : 10 * decade;
}

static void overview_range(struct figures *f, const struct columns *c)
{
	double most = c->range.most > 0 ? c->range.most : 1000, least = c->range.least > 0 ? c->range.least : 100;
	/* The unit for the middle of the axis, because its ends may be decades apart. */
	struct axis_unit unit = figure_axis_unit(2 * sqrt(least * most));

	figure_set(f, "unit", unit.name);
	figure_set_number(f, "unit_ns", unit.ns);
	figure_set_number(f, "bottom", round_down(least * 0.9) / unit.ns);
	figure_set_number(f, "top", round_up(most * 1.05) / unit.ns);
}

/* Returns the number of rows of the key. */
static size_t overview_series(struct figures *f, const struct report *r, const struct columns *c, size_t width)
{
	size_t invalid = 0, longest = strlen(NOT_VALID);

	for (size_t i = 0; i < r->count; i++)
		invalid += !model_is_valid(&r->points[i]);
	figure_set_array(f, "series", c->drawn);
	for (size_t s = 0; s < c->drawn; s++) {
		figure_set_item(f, "series", s, c->series[s]->label);
		longest = strlen(c->series[s]->label) > longest ? strlen(c->series[s]->label) : longest;
	}
	fprintf(f->script, "series_count = %zu\ninvalid_count = %zu\n", c->drawn, invalid);
	return figure_set_key(f, width, c->drawn + (invalid > 0), longest);
}

static void set_all(struct figures *f, const struct report *r, const struct columns *c)
{
	bool upright = r->count <= FEW;
	size_t width = overview_width(r, c, upright), below = overview_labels(f, r, upright);
	size_t rows = overview_series(f, r, c, width);

	if (c->drawn < c->count)
		figure_set_title(f, r, "median, P10 to P90 (box), p99 (line); %zu of %zu series", c->drawn, c->count);
	else
		figure_set_title(f, r, "median, P10 to P90 (box), p99 (line)");
	overview_range(f, c);
	fprintf(f->script, "width = %zu\nheight = %zu\n", width, PLOT_HEIGHT + below + (rows - 1) * FIGURE_KEY_ROW);
}

int figure_overview_add(struct figures *f, const struct report *r, struct err *e)
{
	struct columns c = {.count = 0};
	FILE *table;

	find_columns(&c, r);
	if (!c.count)
		return 0;
	table =
	    figure_begin(f, "overview", NULL, fs_path("overview"),
			 figure_text_medians(r, fs_path("All points side by side: medians with P10, P90 and p99")), e);
	if (table) {
		write_header(table, &c);
		for (size_t i = 0; i < r->count; i++)
			overview_row(table, &c, r, i);
		set_all(f, r, &c);
	}
	free(c.series);
	return figure_end(f, table, e);
}
