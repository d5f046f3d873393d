#include "report/histogram_plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/units.h"
#include "report/histogram_notes.h"

#define WIDTH  800
#define HEIGHT 380

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

static void set_range(struct figures *f, const struct bins *b, int64_t limit_ns)
{
	struct axis_unit unit = figure_axis_unit((double)b->high);

	figure_set(f, "unit", unit.name);
	figure_set_number(f, "unit_ns", unit.ns);
	figure_set_number(f, "low", (double)b->low);
	figure_set_number(f, "high", (double)b->high);
	figure_set_number(f, "bin", (double)b->width);
	figure_set_number(f, "limit", (double)limit_ns);
	/* A quarter of the height stays free for the words. */
	figure_set_number(f, "top", pow((double)bins_peak(b) / 0.8, 4 / 3.) * 0.8 + 1);
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

static void set_texts(struct figures *f, const struct histogram_plot *p, const struct bins *b)
{
	char *notes = histogram_notes(p->items, p->item_count, b, p->is_labelled ? p->labels : NULL);
	char *invalid = histogram_notes_invalid(p->items, p->item_count);

	figure_set(f, "title", figure_one_line(p->title, FIGURE_TITLE_MAX));
	figure_set(f, "notes", notes);
	figure_set(f, "invalid", invalid);
	fprintf(f->script, "notes_lines = %zu\nnotes_columns = %zu\ninvalid_lines = %zu\n", lines(notes),
		columns(notes), lines(invalid));
	free(notes);
	free(invalid);
}

void histogram_plot_write(struct figures *f, FILE *table, const struct histogram_plot *p)
{
	int64_t limit_ns = p->items[0].series->flow->limit_ns;
	struct bins b;

	bins_make(&b, p->series, p->count, limit_ns);
	bins_table(table, &b);
	fprintf(f->script, "width = %d\nheight = %zu\n", WIDTH, HEIGHT + (set_series(f, p) - 1) * FIGURE_KEY_ROW);
	set_range(f, &b, limit_ns);
	set_texts(f, p, &b);
	bins_free(&b);
	free(p->title);
}
