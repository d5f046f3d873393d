#include "report/run_figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "files/rundir/flows.h"
#include "judge/analysis/blocks.h"
#include "report/axes.h"
#include "report/chart.h"
#include "report/labels.h"

#define WIDTH	  800
#define HEIGHT	  440
#define LABEL_MAX 80
#define TICS_MAX  14
#define ROOM	  1.35 /* factor of space beyond the outermost points of a logarithmic axis */

enum mark { MARK_NONE, MARK_PEAK, MARK_HALF };

struct rate_dot {
	double x, y;
	bool is_valid;
	int64_t value; /* of the axis */
};

/* A kind of figure: its setting, and the function that gives the value of a point. False: the point
 * has none. */
struct rate_view {
	const char *key;
	bool (*get)(const struct report_item *item, double *x, double *y);
	bool has_peak; /* mark the maximum of y, and where half of it is reached */
	const char *title, *text, *x_label, *y_label;
};

/* --- what is drawn --- */

static double rate_of(const struct report_item *item, enum bandwidth_number number)
{
	const struct summary_block *block = model_block(item->point, item->series->flow, &bandwidth_block);

	return block ? number_or_zero(block->numbers[number]) : 0;
}

static bool get_bytes(const struct report_item *item, double *x, double *y)
{
	*x = (double)json_integer_value(axes_setting(item, AXES_SIZE));
	*y = rate_of(item, RATE_BYTES_PER_S) / 1e6;
	return *x > 0 && *y > 0;
}

static bool get_latency(const struct report_item *item, double *x, double *y)
{
	const struct report_point *p = item->point;
	int64_t ns = 0;

	for (size_t i = 0; i < p->series_count; i++)
		if (p->series[i].flow == item->series->flow && !strcmp(p->series[i].name, "comp_lat_ns"))
			model_metric(&p->series[i], STATISTIC_P50, &ns);
	*x = rate_of(item, RATE_MESSAGES_PER_S) / 1e3;
	*y = (double)ns / 1e3;
	return *x > 0 && *y > 0;
}

static const struct rate_view views[] = {
    {AXES_SIZE, get_bytes, true, "rate against size", "Bytes per second against the size of a message", "size",
     "rate [MB/s]"},
    {"depth", get_latency, false, "latency against rate, as the depth grows",
     "Median latency of a completion against messages per second, by depth", "rate [kmsg/s]",
     "latency of a completion [us]"},
};

/* --- a line --- */

/* The dots of a line, by the value of the setting; a single one is not a line. */
static size_t line_dots(const struct axes_lines *c, const struct rate_view *view, size_t line, struct rate_dot *dots)
{
	size_t count = 0;

	for (size_t x = 0; x < c->value_count; x++)
		for (size_t i = 0; i < c->r->leading_count; i++) {
			const struct report_item *item = &c->r->leading[i];
			struct rate_dot dot = {.is_valid = model_is_valid(item->point), .value = c->values[x]};

			if (count < AXES_VALUES_MAX && axes_has(c, item) && axes_line_index(c, item) == line &&
			    axes_value_index(c, item) == x && view->get(item, &dot.x, &dot.y))
				dots[count++] = dot;
		}
	return count > 1 ? count : 0;
}

static size_t peak_of(const struct rate_dot *dots, size_t count)
{
	size_t peak = 0;

	for (size_t i = 1; i < count; i++)
		peak = dots[i].y > dots[peak].y ? i : peak;
	return peak;
}

/* Where half of the peak is first reached, interpolated between two sizes on the scale of the axes;
 * false if the smallest size reaches it. */
static bool half_of(const struct rate_dot *dots, size_t count, double peak, struct rate_dot *half)
{
	size_t i = 0;

	while (i < count && dots[i].y < peak / 2)
		i++;
	if (!i || i == count)
		return false;
	const double share = log(peak / 2 / dots[i - 1].y) / log(dots[i].y / dots[i - 1].y);

	*half = (struct rate_dot){
	    .x = dots[i - 1].x * pow(dots[i].x / dots[i - 1].x, share), .y = peak / 2, .is_valid = true};
	return true;
}

/* Interpolated, so two digits are sufficient. */
static void round_size(double bytes, char *text, size_t size)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
	size_t i = 0;

	for (; bytes >= 1000 && i + 1 < sizeof(units) / sizeof(units[0]); i++)
		bytes /= 1024;
	snprintf(text, size, bytes < 10 ? "%.1f%s" : "%.0f%s", bytes, units[i]);
}

enum { LINE, X, Y, VALID, MARK, TEXT, COLUMNS };

static void dot_row(struct table *t, size_t line, const struct rate_dot *d, enum mark mark, const char *key)
{
	size_t row = table_row(t);
	json_t *value = json_integer(d->value);
	char text[LABEL_MAX];

	label_value(key, value, text, sizeof(text));
	if (mark == MARK_HALF)
		round_size(d->x, text, sizeof(text));
	table_count(t, LINE, row, (int64_t)line + 1);
	table_number(t, X, row, d->x);
	table_number(t, Y, row, d->y);
	table_count(t, VALID, row, d->is_valid);
	table_count(t, MARK, row, mark);
	table_text(t, TEXT, row, "%s", text);
	json_decref(value);
}

struct rate_extent {
	double left, right, bottom, top;
};

static void extent_add(struct rate_extent *e, const struct rate_dot *d)
{
	*e = e->top > 0 ? (struct rate_extent){fmin(e->left, d->x), fmax(e->right, d->x), fmin(e->bottom, d->y),
					       fmax(e->top, d->y)}
			: (struct rate_extent){d->x, d->x, d->y, d->y};
}

static struct table rate_rows(const struct axes_lines *c, const struct rate_view *view, struct rate_extent *extent)
{
	const struct table_column columns[COLUMNS] = {{.key = "line"},	{.key = "x"},	 {.key = "y"},
						      {.key = "valid"}, {.key = "mark"}, {.key = c->key}};
	struct rate_dot dots[AXES_VALUES_MAX], half;
	struct table t = table_of(columns, COLUMNS, 0);

	for (size_t line = 0; line < c->drawn; line++) {
		size_t count = line_dots(c, view, line, dots), peak = peak_of(dots, count);

		for (size_t i = 0; i < count; i++) {
			dot_row(&t, line, &dots[i], MARK_NONE, c->key);
			extent_add(extent, &dots[i]);
		}
		if (!view->has_peak || !count)
			continue;
		dot_row(&t, line, &dots[peak], MARK_PEAK, c->key);
		if (half_of(dots, count, dots[peak].y, &half))
			dot_row(&t, line, &half, MARK_HALF, c->key);
	}
	return t;
}

/* --- variables --- */

/* Lines without dots have no name. */
static void name_lines(struct chart *chart, const struct axes_lines *c, const struct rate_view *view)
{
	struct rate_dot dots[AXES_VALUES_MAX];
	size_t named = 0;

	for (size_t i = 0; i < c->drawn; i++) {
		const bool is_drawn = line_dots(c, view, i, dots);

		chart_series(chart, is_drawn ? axes_label(c->r, c->lines[c->from + i], c->keys, c->key_count)
					     : fs_path("%s", ""));
		named += is_drawn;
	}
	chart->entries = c->drawn > 1 ? named : 0;
}

/* If sizes are on the axis, label them; if there are many, only every n-th one. */
static void set_rate_tics(struct figures *f, const struct axes_lines *c, const struct rate_view *view)
{
	const size_t step = 1 + (c->value_count - 1) / TICS_MAX;
	const size_t count = view->has_peak ? (c->value_count + step - 1) / step : 0;

	figure_set_count(f, "tics", count);
	figure_set_array(f, "tic_at", count ? count : 1);
	figure_set_array(f, "tic_labels", count ? count : 1);
	for (size_t i = 0; i < count; i++) {
		json_t *value = json_integer(c->values[i * step]);
		char text[LABEL_MAX];

		figure_set_item_number(f, "tic_at", i, (double)c->values[i * step]);
		figure_set_item(f, "tic_labels", i, label_value(c->key, value, text, sizeof(text)));
		json_decref(value);
	}
}

static void set_extent(struct figures *f, const struct rate_extent *e)
{
	figure_set_number(f, "x_least", e->left / ROOM);
	figure_set_number(f, "x_most", e->right * ROOM);
	figure_set_number(f, "bottom", e->bottom / ROOM);
	figure_set_number(f, "top", e->top * ROOM);
}

struct rate {
	const struct axes_lines *lines;
	const struct rate_view *view;
	struct rate_extent extent;
};

static void set_rate_variables(struct figures *f, const void *what)
{
	const struct rate *r = what;

	figure_set(f, "x_label", r->view->x_label);
	figure_set(f, "y_label", r->view->y_label);
	fprintf(f->script, "has_peak = %d\n", r->view->has_peak);
	set_rate_tics(f, r->lines, r->view);
	set_extent(f, &r->extent);
}

/* --- which figures --- */

static int add_rate(struct figures *f, const struct axes_lines *c, const struct rate_view *view, struct err *e)
{
	struct rate rate = {.lines = c, .view = view};
	struct chart chart = {
	    .kind = "rate",
	    .name = fs_path("rate-%zu", f->count),
	    .text = fs_path("%s", view->text),
	    .title = fs_path("%s", view->title),
	    .rows = rate_rows(c, view, &rate.extent),
	    .longest = CHART_LONGEST,
	    .width = WIDTH,
	    .height = HEIGHT,
	};

	name_lines(&chart, c, view);
	return chart_add(f, c->r, &chart, set_rate_variables, &rate, e);
}

/* Does any line of this figure have two points? */
static bool draws_something(const struct axes_lines *c, const struct rate_view *view)
{
	struct rate_dot dots[AXES_VALUES_MAX];

	for (size_t line = 0; line < c->drawn; line++)
		if (line_dots(c, view, line, dots))
			return true;
	return false;
}

int figure_rate_add(struct figures *f, const struct report *r, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < sizeof(views) / sizeof(views[0]); i++) {
		struct axes_lines c;

		if (!axes_lines_make(&c, r, views[i].key))
			continue;
		while (!rc && axes_lines_next(&c))
			if (draws_something(&c, &views[i]))
				rc = add_rate(f, &c, &views[i], e);
		axes_lines_free(&c);
	}
	return rc;
}
