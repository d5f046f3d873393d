#include "report/histogram_plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "common/units.h"
#include "judge/analysis/statistics.h"
#include "report/figure.h"
#include "report/missed_steps.h"
#include "report/model.h"

/* --- bins --- */

#define NARROW	  10		     /* in a range of more than this many medians, the bulk would look like a line */
#define BULK	  0.9		     /* share of each series that must be visible */
#define TOO_WIDE  2		     /* bins are too wide if the first median is in one of the first two */
#define LIMIT_MAX (INT64_MAX / 1000) /* ns; bins still end at an integer */

/* The smallest of 1, 2, 5, 10, ... that is at least `width`. */
static int64_t step_up(int64_t width)
{
	static const int64_t steps[] = {1, 2, 5};
	int64_t scale = 1;

	for (;;) {
		for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
			if (steps[i] * scale >= width || scale > INT64_MAX / 100)
				return steps[i] * scale;
		scale *= 10;
	}
}

/* Values come from files that may say anything; these can be subtracted and multiplied. */
static int64_t limited(int64_t value)
{
	return value > LIMIT_MAX ? LIMIT_MAX : value < -LIMIT_MAX ? -LIMIT_MAX : value;
}

static int64_t quantile_or_end(const struct report_series *s, double p)
{
	int64_t value = 0;

	model_quantile(s, p, 0, &value);
	return limited(value);
}

static int64_t saturated(int64_t value, int64_t times)
{
	return value > INT64_MAX / times ? INT64_MAX : value * times;
}

static int64_t least_of(const struct report_series *const *series, size_t count, double p)
{
	int64_t least = 0;

	for (size_t i = 0; i < count; i++) {
		int64_t value = quantile_or_end(series[i], p);

		least = value < least ? value : least;
	}
	return least;
}

static int64_t most_of(const struct report_series *const *series, size_t count, double p)
{
	int64_t most = 0;

	for (size_t i = 0; i < count; i++) {
		int64_t value = quantile_or_end(series[i], p);

		most = value > most ? value : most;
	}
	return most;
}

/* The end of the figure: the p99.9 of the first series, or a lower quantile if that would squeeze
 * its bulk into a few bins; and most of the other series. */
static int64_t wanted_end(const struct report_series *const *series, size_t count)
{
	static const double ends[] = {0.999, 0.99, BULK};
	int64_t wide = saturated(quantile_or_end(series[0], 0.5), NARROW), bulk = most_of(series, count, BULK), end = 0;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		bool squeezes = wide > 0 && quantile_or_end(series[0], ends[i]) > wide;

		end = quantile_or_end(series[0], ends[i]);
		if (!squeezes) {
			end = i && end < wide ? wide : end;
			break;
		}
	}
	return bulk > end ? bulk : end;
}

/* Let bins end at the limit. False: the bulk would not be visible. */
static bool choose_by_limit(struct bins *b, const struct report_series *const *series, size_t count, int64_t limit_ns)
{
	b->low = 0;
	b->width = step_up((limit_ns < 1 ? 0 : limit_ns < LIMIT_MAX ? limit_ns - 1 : LIMIT_MAX) / BINS + 1);
	b->high = b->low + BINS * b->width;
	return least_of(series, count, 0.001) == 0 && most_of(series, count, BULK) < b->high &&
	       quantile_or_end(series[0], 0.5) >= TOO_WIDE * b->width && series[0]->histogram.width <= b->width;
}

static void choose_by_data(struct bins *b, const struct report_series *const *series, size_t count)
{
	int64_t end = wanted_end(series, count), low = least_of(series, count, 0.001);
	int64_t width = (end - low) / BINS + 1, coarse = limited(series[0]->histogram.width);

	b->low = low < 0 ? -step_up(-low) : 0;
	b->width = step_up(low < 0 ? (end - b->low) / BINS + 1 : width > coarse ? width : coarse);
	b->high = b->low + BINS * b->width;
}

/* If the median would be in the first two bins, they get wider by a factor. */
static void choose_logarithmic(struct bins *b, const struct report_series *const *series, size_t count)
{
	int64_t least = b->high;

	for (size_t i = 0; i < count; i++) {
		const int64_t low = quantile_or_end(series[i], 0.001);

		least = low > 0 && low < least ? low : least;
	}
	if (b->low || quantile_or_end(series[0], 0.5) >= TOO_WIDE * b->width || b->high <= BINS * NARROW)
		return;
	b->low = least;
	b->width = 0;
}

/* The lower edge of a bin, from 0 to BINS. */
static int64_t edge_of(const struct bins *b, size_t bin)
{
	if (b->width)
		return b->low + (int64_t)bin * b->width;
	return bin == BINS ? b->high
			   : (int64_t)((double)b->low * pow((double)b->high / (double)b->low, (double)bin / BINS));
}

static int64_t middle_of(const struct histogram *h, size_t bin)
{
	int64_t middle;

	return __builtin_add_overflow(h->value[bin], h->width / 2, &middle) ? INT64_MAX : middle;
}

static size_t bin_of(const struct bins *b, int64_t value)
{
	size_t bin;

	if (value < b->low || value >= b->high)
		return value < b->low ? BINS_BELOW : BINS_BEYOND;
	if (b->width)
		return 1 + (size_t)((value - b->low) / b->width);
	bin = (size_t)(BINS * log((double)value / (double)b->low) / log((double)b->high / (double)b->low));
	/* edges are rounded down */
	while (bin + 1 < BINS && value >= edge_of(b, bin + 1))
		bin++;
	while (bin && value < edge_of(b, bin))
		bin--;
	return 1 + bin;
}

void bins_make(struct bins *b, const struct report_series *const *series, size_t count, int64_t limit_ns)
{
	*b = (struct bins){.of = or_abort(calloc(count, sizeof(*b->of))), .series_count = count};
	if (!choose_by_limit(b, series, count, limit_ns)) {
		choose_by_data(b, series, count);
		choose_logarithmic(b, series, count);
	}
	for (size_t s = 0; s < count; s++) {
		const struct histogram *h = &series[s]->histogram;

		for (size_t i = 0; i < h->bins; i++)
			b->of[s].count[bin_of(b, middle_of(h, i))] += h->count[i];
	}
}

void bins_free(struct bins *b)
{
	free(b->of);
	*b = (struct bins){0};
}

uint64_t bins_peak(const struct bins *b, size_t first)
{
	uint64_t most = 1;

	for (size_t s = 0; s < b->series_count; s++)
		for (size_t bin = BINS_BELOW + 1 + first; bin < BINS_BEYOND; bin++)
			most = b->of[s].count[bin] > most ? b->of[s].count[bin] : most;
	return most;
}

static void write_edge(FILE *table, const struct bins *b, size_t bin)
{
	if (bin > BINS_BELOW && bin <= BINS_BEYOND)
		fprintf(table, "%" PRId64, edge_of(b, bin - 1));
}

/* Write rows of from_ns, to_ns and the counts, below a heading that has been written. An edge is
 * missing in the rows for everything below the first bin and everything beyond the last one. */
static void bins_table(FILE *table, const struct bins *b)
{
	for (size_t bin = BINS_BELOW; bin <= BINS_BEYOND; bin++) {
		write_edge(table, b, bin);
		fputc('\t', table);
		write_edge(table, b, bin + 1);
		for (size_t s = 0; s < b->series_count; s++)
			fprintf(table, "\t%" PRIu64, b->of[s].count[bin]);
		fputc('\n', table);
	}
}

#define REASON_MAX  270
#define REASON_LINE 90
#define WIDTH	    800
#define HEIGHT	    380

/* --- the text in the box, and why a point is not valid --- */

/* Writes the note about one item. */
typedef void print_item(FILE *out, const struct report_item *i);

static double real_of(const struct report_item *i, unsigned statistic)
{
	return number_value(model_number(i->series, statistic));
}

static void print_over(FILE *out, const struct report_item *i)
{
	double over = real_of(i, STATISTIC_OVER_LIMIT);

	fprintf(out, isnan(over) ? "unknown" : "%.4g %%", 100 * over);
}

static void print_lost(FILE *out, const struct report_item *i)
{
	double lost = real_of(i, STATISTIC_LOST);

	if (isnan(lost))
		fputs("unknown", out);
	else
		fprintf(out, "%.0f of %.0f", lost, lost + (double)i->series->count);
}

static void print_largest(FILE *out, const struct report_item *i)
{
	char text[32];
	int64_t max;

	fputs(model_metric(i->series, STATISTIC_MAX, &max) ? unit_human_ns(max, text, sizeof(text)) : "unknown", out);
}

static void print_share(FILE *out, bool known, double share)
{
	fprintf(out, known ? "%.4g %%" : "-", 100 * share);
}

static void print_missing_in(FILE *out, const struct report_item *i)
{
	struct missed_steps s;
	bool known = missed_steps_of(i->point, i->series->flow, &s);

	print_share(out, known, missed_steps_in(&s));
	if (known)
		fprintf(out, " of %" PRId64 " steps", s.due);
}

static void print_missing_out(FILE *out, const struct report_item *i)
{
	struct missed_steps s;
	bool known = missed_steps_of(i->point, i->series->flow, &s);

	print_share(out, known, missed_steps_out(&s));
}

static void print_not_transmitted(FILE *out, const struct report_item *i)
{
	struct missed_steps s;
	bool known = missed_steps_of(i->point, i->series->flow, &s);

	print_share(out, known, s.not_transmitted_share);
	if (known)
		fputs(" of those sent", out);
}

static bool has_clock_error(const struct report_item *i)
{
	return i->series->metric && i->series->metric->clock_error.kind == NUMBER_INTEGER;
}

static void print_clock_error(FILE *out, const struct report_item *i)
{
	char text[32];

	fputs(has_clock_error(i) ? unit_human_ns(i->series->metric->clock_error.integer, text, sizeof(text)) : "none",
	      out);
}

static bool is_always(const struct report_item *i)
{
	(void)i;
	return true;
}

static bool is_paced(const struct report_item *i)
{
	struct missed_steps s;

	return missed_steps_of(i->point, i->series->flow, &s);
}

static bool has_largest(const struct report_item *i)
{
	int64_t max;

	return model_metric(i->series, STATISTIC_MAX, &max);
}

/* A line, which is written if it has text for at least one item. */
struct line {
	const char *name;
	bool (*applies)(const struct report_item *i);
	print_item *print;
};

static const struct line counted_lines[] = {
    {"lost", is_always, print_lost},
    {"missing in", is_paced, print_missing_in},
    {"missing out", is_paced, print_missing_out},
    {"not transmitted", is_paced, print_not_transmitted},
    {"error of the clock between hosts, at most", has_clock_error, print_clock_error},
};

static void note_line(FILE *out, const struct line *line, const struct report_item *items, size_t count)
{
	bool applies = false;

	for (size_t i = 0; i < count; i++)
		applies |= line->applies(&items[i]);
	if (!applies)
		return;
	fprintf(out, "%s%s: ", ftell(out) ? "\n" : "", line->name);
	for (size_t i = 0; i < count; i++) {
		fputs(i ? ", " : "", out);
		line->print(out, &items[i]);
	}
}

static void note_over(FILE *out, const struct report_item *items, size_t count)
{
	char limit[32], name[48];
	struct line line = {name, is_always, print_over};

	unit_format(UNIT_TIME_NS, items[0].series->flow->limit_ns, limit, sizeof(limit));
	snprintf(name, sizeof(name), "over %s", limit);
	note_line(out, &line, items, count);
}

static void note_outside(FILE *out, const struct bins *b, const char *const *labels, size_t bin)
{
	int64_t edge_ns = bin == BINS_BELOW ? b->low : b->high;
	char text[32];
	uint64_t sum = 0;
	const char *separator = "";

	for (size_t s = 0; s < b->series_count; s++)
		sum += b->of[s].count[bin];
	if (!sum)
		return;
	fprintf(out, "\n%s %s: ", bin == BINS_BELOW ? "below" : "beyond",
		unit_format(UNIT_TIME_NS, edge_ns, text, sizeof(text)));
	for (size_t s = 0; s < b->series_count; s++) {
		if (labels && !b->of[s].count[bin])
			continue;
		fprintf(out, "%s%" PRIu64 "%s%s", separator, b->of[s].count[bin], labels ? " " : "",
			labels ? labels[s] : "");
		separator = ", ";
	}
}

static void note_largest(FILE *out, const struct report_item *items, size_t count)
{
	char *name = fs_path("largest%s%s", count > 1 ? "" : " ", count > 1 ? "" : items[0].series->label);
	struct line line = {name, has_largest, print_largest};

	note_line(out, &line, items, count);
	free(name);
}

/*
 * For each item: the share over its limit, lost messages, missing steps, and the largest latency.
 * For each series of `bins`, in the order of the key: what lies outside of them. `labels`: names of
 * the series; NULL: their order identifies them. The caller frees.
 */
static char *histogram_notes(const struct report_item *items, size_t count, const struct bins *bins,
			     const char *const *labels)
{
	char *text = NULL;
	size_t size;
	FILE *out = or_abort(open_memstream(&text, &size));

	note_over(out, items, count);
	for (size_t i = 0; i < sizeof(counted_lines) / sizeof(counted_lines[0]); i++)
		note_line(out, &counted_lines[i], items, count);
	note_outside(out, bins, labels, BINS_BELOW);
	note_outside(out, bins, labels, BINS_BEYOND);
	note_largest(out, items, count);
	fclose(out);
	return or_abort(text);
}

/* Break lines at spaces, so that a long reason stays inside the figure. */
static char *break_lines(char *text)
{
	size_t column = 0, blank = 0;

	for (size_t i = 0; text[i]; i++, column++) {
		if (text[i] == ' ')
			blank = i;
		if (column < REASON_LINE || !blank)
			continue;
		text[blank] = '\n';
		column = i - blank;
		blank = 0;
	}
	return text;
}

/* "NOT VALID: ..." for the first point that is not valid, on lines that fit the figure; "" if all
 * points are valid. The caller frees. */
static char *histogram_notes_invalid(const struct report_item *items, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct report_point *p = items[i].point;
		const char *reason = model_reason(p);

		if (model_is_valid(p))
			continue;
		return break_lines(
		    figure_one_line(fs_path("NOT VALID: %s", *reason ? reason : model_outcome(p)), REASON_MAX));
	}
	return fs_path("%s", "");
}

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
	int64_t median = 0;

	figure_set_array(f, "series", p->count);
	figure_set_array(f, "median", p->count);
	figure_set_array(f, "median_text", p->count);
	for (size_t i = 0; i < p->count; i++) {
		bool known = model_metric(p->series[i], STATISTIC_P50, &median);

		figure_set_item(f, "series", i, p->labels[i]);
		longest = strlen(p->labels[i]) > longest ? strlen(p->labels[i]) : longest;
		figure_set_item_number(f, "median", i, known ? (double)median : NAN);
		figure_set_item(f, "median_text", i, known ? unit_human_ns(median, text, sizeof(text)) : "");
	}
	figure_set_count(f, "series_count", p->count);
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
	/* Bins are equally wide on the axis, whatever it is. */
	double from = (box->left - LEFT) / (right - LEFT) * BINS, under = (box->bottom - axis_top + 4) / axis_height;
	size_t first = from < 0 ? 0 : (size_t)from;
	double all = log((double)bins_peak(b, 0) / LOWEST) * 4 / 3;
	double beside = log((double)bins_peak(b, first) / LOWEST) / (1 - fmin(under, 0.8));

	return LOWEST * exp(fmax(all, beside)) + 1;
}

static void set_range(struct figures *f, const struct bins *b, int64_t limit_ns)
{
	struct axis_unit unit =
	    figure_axis_unit(b->width ? (double)b->high : 2 * sqrt((double)b->low * (double)b->high));
	char text[32];

	figure_set_count(f, "logarithmic", !b->width);
	figure_set(f, "bin_text", b->width ? unit_format(UNIT_TIME_NS, b->width, text, sizeof(text)) : "");
	figure_set(f, "limit_text", unit_format(UNIT_TIME_NS, limit_ns, text, sizeof(text)));
	figure_set(f, "unit", unit.name);
	figure_set_number(f, "unit_ns", unit.ns);
	figure_set_number(f, "low", (double)b->low);
	figure_set_number(f, "high", (double)b->high);
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
	fprintf(f->script, "box_left = %.1f\nbox_top = %.1f\nbox_bottom = %.1f\ntop = %.10g\n", box.left, box.top,
		box.bottom, top_of(b, &box, rows));
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
