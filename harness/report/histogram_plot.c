#include "report/histogram_plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/units.h"
#include "report/histogram_notes.h"

#define WIDTH  800
#define HEIGHT 380

/* Pixels, as in plots/style.gp and histogram.gp. */
#define LEFT	    92
#define RIGHT	    18
#define AXIS_TOP    56 /* with one row of the key */
#define AXIS_BOTTOM 58
#define LOWEST	    0.8 /* lower end of the axis of counts */

/* The box: its position below the top, its margins, and the size of a character and a line. */
#define BOX_TOP	      66
#define BOX_SIDES     22
#define BOX_ENDS      10
#define BOX_CHARACTER 6.7
#define BOX_LINE      18

struct box {
	double left, top, bottom;
};

/* Returns the number of rows of the key. */
static size_t set_series(struct figures *f, const struct histogram_plot *p)
{
	size_t longest = 0;
	char text[32];
	int64_t median;

	figure_set_array(f, "series", p->count);
	figure_set_array(f, "median", p->count);
	figure_set_array(f, "median_text", p->count);
	for (size_t i = 0; i < p->count; i++) {
		bool known = model_metric(p->series[i], "p50", &median);

		figure_set_item(f, "series", i, p->labels[i]);
		longest = strlen(p->labels[i]) > longest ? strlen(p->labels[i]) : longest;
		figure_set_item_number(f, "median", i, known ? (double)median : NAN);
		figure_set_item(f, "median_text", i, known ? unit_human_ns(median, text, sizeof(text)) : "");
	}
	fprintf(f->script, "series_count = %zu\n", p->count);
	return figure_set_key(f, WIDTH, p->count, longest);
}

static size_t lines(const char *text)
{
	size_t count = 1;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

static size_t columns(const char *text)
{
	size_t widest = 0, n;

	for (; *text; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		widest = n > widest ? n : widest;
	}
	return widest;
}

static struct box box_around(const char *notes, size_t rows)
{
	double top = BOX_TOP + (double)(rows - 1) * FIGURE_KEY_ROW;

	return (struct box){WIDTH - RIGHT - BOX_SIDES - BOX_CHARACTER * (double)columns(notes), top,
			    top + BOX_ENDS + BOX_LINE * (double)lines(notes)};
}

/* The upper end of the axis: leaves a quarter for the medians, and no bar is below the box. */
static double top_of(const struct bins *b, const struct box *box, size_t rows)
{
	double axis_top = AXIS_TOP + (double)(rows - 1) * FIGURE_KEY_ROW;
	double axis_height = HEIGHT - AXIS_BOTTOM - AXIS_TOP, right = WIDTH - RIGHT;
	double from = (box->left - LEFT) / (right - LEFT) * BINS, under = (box->bottom - axis_top + 4) / axis_height;
	size_t first = from < 0 ? 0 : (size_t)from;
	double all = log((double)bins_peak(b, 0) / LOWEST) * 4 / 3;
	double beside = log((double)bins_peak(b, first) / LOWEST) / (1 - fmin(under, 0.8));

	return LOWEST * exp(fmax(all, beside)) + 1;
}

static void set_range(struct figures *f, const struct bins *b, int64_t limit_ns)
{
	struct axis_unit unit = figure_axis_unit((double)b->high);
	char text[32];

	figure_set(f, "bin_text", unit_format(UNIT_TIME_NS, b->width, text, sizeof(text)));
	figure_set(f, "limit_text", unit_format(UNIT_TIME_NS, limit_ns, text, sizeof(text)));
	figure_set(f, "unit", unit.name);
	figure_set_number(f, "unit_ns", unit.ns);
	figure_set_number(f, "low", (double)b->low);
	figure_set_number(f, "high", (double)b->high);
	figure_set_number(f, "bin", (double)b->width);
	figure_set_number(f, "limit", (double)limit_ns);
}

static void set_texts(struct figures *f, const struct histogram_plot *p, const struct bins *b, size_t rows)
{
	char *notes = histogram_notes(p->items, p->item_count, b, p->is_labelled ? p->labels : NULL);
	char *invalid = histogram_notes_invalid(p->items, p->item_count);
	struct box box = box_around(notes, rows);

	figure_set(f, "title", figure_one_line(p->title, FIGURE_TITLE_MAX));
	figure_set(f, "notes", notes);
	figure_set(f, "invalid", invalid);
	fprintf(f->script, "invalid_lines = %zu\n", lines(invalid));
	figure_set_number(f, "box_left", box.left);
	figure_set_number(f, "box_top", box.top);
	figure_set_number(f, "box_bottom", box.bottom);
	figure_set_number(f, "top", top_of(b, &box, rows));
	free(notes);
	free(invalid);
}

void histogram_plot_write(struct figures *f, FILE *table, const struct histogram_plot *p)
{
	int64_t limit_ns = p->items[0].series->flow->limit_ns;
	struct bins b;
	size_t rows;

	bins_make(&b, p->series, p->count, limit_ns);
	bins_table(table, &b);
	rows = set_series(f, p);
	fprintf(f->script, "width = %d\nheight = %zu\n", WIDTH, HEIGHT + (rows - 1) * FIGURE_KEY_ROW);
	set_range(f, &b, limit_ns);
	set_texts(f, p, &b, rows);
	bins_free(&b);
	free(p->title);
}
