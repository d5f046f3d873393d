#include "report/run_figures.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "report/chart.h"

#define FEW	     8	 /* up to this many points, labels are horizontal, with one value per line */
#define LABELS_MAX   150 /* more are unreadable */
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
	double p;	    /* 0: taken from the summary */
	unsigned statistic; /* there */
};

/* The summary does not contain lower quantiles; the histogram gives them exactly. */
static const struct cell cells[] = {
    {"p10_ns", 0.1, 0}, {"p50_ns", 0, STATISTIC_P50}, {"p90_ns", 0, STATISTIC_P90}, {"p99_ns", 0, STATISTIC_P99}};

#define CELLS (sizeof(cells) / sizeof(cells[0]))

static bool cell_value(const struct report_series *s, const struct cell *cell, int64_t *value)
{
	if (!s)
		return false;
	return cell->p > 0 ? model_quantile(s, cell->p, STATS_BEYOND, value) : model_metric(s, cell->statistic, value);
}

static void overview_cell(struct table *t, size_t column, size_t row, struct columns *c, const struct report_series *s,
			  const struct cell *cell)
{
	int64_t value;

	/* A logarithmic axis can only show positive values. */
	if (!cell_value(s, cell, &value))
		return;
	table_count(t, column, row, value);
	figure_range_add(&c->range, value);
}

/* Texts come last: gnuplot takes a quotation mark in a cell for the beginning of a string, and
 * would misread the following columns. */
static struct table overview_columns(const struct columns *c, size_t rows)
{
	static const struct table_column first[] = {{.key = "x"}, {.key = "valid"}},
					 last[] = {{.key = "run"}, {.key = "point"}, {.key = "label"}};
	struct table t = table_of(first, sizeof(first) / sizeof(*first), rows);

	for (size_t s = 0; s < c->count; s++)
		for (size_t k = 0; k < CELLS; k++) {
			char *key = fs_path("%s_%s", c->series[s]->label, cells[k].name);

			table_add(&t, &(struct table_column){.key = key});
			free(key);
		}
	for (size_t i = 0; i < sizeof(last) / sizeof(*last); i++)
		table_add(&t, &last[i]);
	return t;
}

static struct table overview_rows(struct columns *c, const struct report *r)
{
	struct table t = overview_columns(c, r->count);

	for (size_t i = 0; i < r->count; i++) {
		const struct report_point *p = &r->points[i];
		size_t column = 0;

		table_count(&t, column++, i, (int64_t)i + 1);
		table_count(&t, column++, i, model_is_valid(p));
		for (size_t s = 0; s < c->count; s++)
			for (size_t k = 0; k < CELLS; k++)
				overview_cell(&t, column++, i, c, series_of_key(p, c->series[s]->key), &cells[k]);
		table_text(&t, column++, i, "%s", r->runs[p->run].label);
		table_count(&t, column++, i, p->id);
		table_text(&t, column, i, "%s", p->label);
	}
	return t;
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

/* The height that the labels take, in pixels. */
static size_t labels_height(const struct report *r, bool upright)
{
	size_t most = 0;

	for (size_t i = 0; i < r->count; i++) {
		char *label = overview_label(r, &r->points[i], upright);
		size_t pixels = label_pixels(label, upright);

		most = pixels > most ? pixels : most;
		free(label);
	}
	return most;
}

static void set_labels(struct figures *f, const struct report *r, bool upright)
{
	figure_set_array(f, "labels", r->count);
	for (size_t i = 0; i < r->count; i++) {
		char *label = overview_label(r, &r->points[i], upright);

		figure_set_item(f, "labels", i, label);
		free(label);
	}
	fprintf(f->script, "points = %zu\nrotate = %d\nlabel_every = %zu\nlabel_height = %zu\n", r->count, !upright,
		1 + r->count / LABELS_MAX, labels_height(r, upright));
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

struct overview {
	const struct report *r;
	const struct columns *columns;
	bool upright;
};

static void set_overview_variables(struct figures *f, const void *what)
{
	const struct overview *o = what;

	set_labels(f, o->r, o->upright);
	overview_range(f, o->columns);
}

static char *overview_title(const struct columns *c)
{
	const char *title = "median, P10 to P90 (box), p99 (line)";

	return c->drawn < c->count ? fs_path("%s; %zu of %zu series", title, c->drawn, c->count) : fs_path("%s", title);
}

static int add_overview(struct figures *f, const struct report *r, struct columns *c, struct err *e)
{
	bool upright = r->count <= FEW;
	struct chart chart = {
	    .kind = "overview",
	    .name = fs_path("overview"),
	    .text = figure_text_medians(r, fs_path("All points side by side: medians with P10, P90 and p99")),
	    .title = overview_title(c),
	    .rows = overview_rows(c, r),
	    .longest = strlen(NOT_VALID),
	    .width = overview_width(r, c, upright),
	    .height = PLOT_HEIGHT + labels_height(r, upright),
	    .key_row = FIGURE_KEY_ROW,
	};

	for (size_t i = 0; i < r->count; i++)
		chart.invalid += !model_is_valid(&r->points[i]);
	for (size_t s = 0; s < c->drawn; s++)
		chart_series(&chart, fs_path("%s", c->series[s]->label));
	chart.entries = c->drawn + (chart.invalid > 0);
	return chart_add(f, r, &chart, set_overview_variables, &(struct overview){r, c, upright}, e);
}

int figure_overview_add(struct figures *f, const struct report *r, struct err *e)
{
	struct columns c = {.count = 0};
	int rc = 0;

	find_columns(&c, r);
	if (c.count)
		rc = add_overview(f, r, &c, e);
	free(c.series);
	return rc;
}
