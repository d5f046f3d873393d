#include "report/figure_histogram.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/units.h"
#include "report/missed_steps.h"

#define WIDTH	    800
#define HEIGHT	    380
#define BINS	    100
#define THESIS_BIN  500 /* ns; its figures end at 50 us */
#define NARROW	    10	/* a range of more than this many medians shows its bulk as a line */
#define REASON_MAX  270
#define REASON_LINE 90

/* Of one series: the first are below the first bin, the last beyond the last one. */
struct series_bins {
	uint64_t count[BINS + 2];
};

#define BELOW  0
#define BEYOND (BINS + 1)

/* What one figure is about: the series of a flow. */
struct flow_series {
	const struct report_point *point;
	const struct layout_flow *flow;
	const struct report_series *series, *first; /* the first that was measured */
	size_t count;
};

struct bins {
	int64_t low, width, high;
	struct series_bins *series; /* one for each of the flow's */
};

/* --- which bins --- */

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

static int64_t quantile_or_end(const struct report_series *s, double p)
{
	int64_t value = 0;

	model_quantile(s, p, 0, &value);
	return value;
}

/* Up to where the figure should reach: the first series' p99.9, unless that squeezes its bulk into
 * a few bins; of the others, most. */
static int64_t wanted_end(const struct flow_series *of)
{
	int64_t median = quantile_or_end(of->first, 0.5), end = quantile_or_end(of->first, 0.999);

	if (median > 0 && end / NARROW > median) {
		end = quantile_or_end(of->first, 0.99);
		end = end > median * NARROW ? end : median * NARROW;
	}
	for (size_t i = 0; i < of->count; i++) {
		int64_t most = quantile_or_end(&of->series[i], 0.9);

		end = most > end ? most : end;
	}
	return end;
}

static int64_t wanted_low(const struct flow_series *of)
{
	int64_t low = 0;

	for (size_t i = 0; i < of->count; i++) {
		int64_t least = quantile_or_end(&of->series[i], 0.001);

		low = least < low ? least : low;
	}
	return low;
}

/* The thesis' own bins wherever the data fit: figures of different points can be laid side by
 * side. */
static void choose_bins(struct bins *b, const struct flow_series *of)
{
	int64_t end = wanted_end(of), low = wanted_low(of), coarse = of->first->histogram.width;

	b->low = 0;
	b->width = THESIS_BIN;
	if (low < 0 || end >= THESIS_BIN * BINS || quantile_or_end(of->first, 0.5) < THESIS_BIN) {
		b->width = (end - low) / BINS + 1;
		b->width = step_up(b->width > coarse ? b->width : coarse);
	}
	if (low < 0) {
		b->low = -step_up(-low);
		b->width = step_up((end - b->low) / BINS + 1);
	}
	b->high = b->low + BINS * b->width;
}

static size_t bin_of(const struct bins *b, int64_t value)
{
	return value < b->low ? BELOW : value >= b->high ? BEYOND : 1 + (size_t)((value - b->low) / b->width);
}

static void fill_bins(struct bins *b, const struct flow_series *of)
{
	b->series = or_abort(calloc(of->count, sizeof(*b->series)));
	for (size_t s = 0; s < of->count; s++) {
		const struct histogram *h = &of->series[s].histogram;

		for (size_t i = 0; i < h->bins; i++)
			b->series[s].count[bin_of(b, h->value[i] + h->width / 2)] += h->count[i];
	}
}

/* --- the table --- */

static void write_edge(FILE *table, const struct bins *b, size_t bin)
{
	if (bin > BELOW && bin <= BEYOND)
		fprintf(table, "%" PRId64, b->low + (int64_t)(bin - 1) * b->width);
}

/* A missing edge: all that is below the first bin, beyond the last. */
static void histogram_table(FILE *table, const struct flow_series *of, const struct bins *b)
{
	fputs("from_ns\tto_ns", table);
	for (size_t s = 0; s < of->count; s++)
		fprintf(table, "\t%s", of->series[s].name);
	fputc('\n', table);
	for (size_t bin = BELOW; bin <= BEYOND; bin++) {
		write_edge(table, b, bin);
		fputc('\t', table);
		write_edge(table, b, bin + 1);
		for (size_t s = 0; s < of->count; s++)
			fprintf(table, "\t%" PRIu64, b->series[s].count[bin]);
		fputc('\n', table);
	}
}

/* --- words --- */

static double real_of(const json_t *metric, const char *key)
{
	const json_t *j = json_object_get(metric, key);

	return json_is_number(j) ? json_number_value(j) : NAN;
}

static void note_outside(FILE *out, const struct flow_series *of, const struct bins *b, size_t bin)
{
	int64_t edge_ns = bin == BELOW ? b->low : b->high;
	char text[32];
	size_t printed = 0;

	for (size_t s = 0; s < of->count; s++) {
		uint64_t count = b->series[s].count[bin];

		if (!count)
			continue;
		if (!printed++)
			fprintf(out, "\n%s %s: ", bin == BELOW ? "below" : "beyond",
				unit_format(UNIT_TIME_NS, edge_ns, text, sizeof(text)));
		fprintf(out, "%s%" PRIu64 " %s", printed > 1 ? ", " : "", count, of->series[s].label);
	}
}

/* What never was a message: of a pacer's steps. */
static void note_steps(FILE *out, const struct flow_series *of)
{
	struct missed_steps s;

	if (!missed_steps_of(of->point, of->flow, &s))
		return;
	fprintf(out, "\nmissed: %.4g %% of %" PRId64 " steps", 100 * s.missed_share, s.due);
	if (s.unsent_share > 0)
		fprintf(out, "\nnot sent: %.4g %% of them", 100 * s.unsent_share);
}

/* What the bars do not show. */
static char *notes(const struct flow_series *of, const struct bins *b)
{
	const struct report_series *first = of->first;
	double over = real_of(first->metric, "over_limit"), lost = real_of(first->metric, "lost");
	char *text = NULL, limit[32], most[32];
	size_t size;
	int64_t max;
	FILE *out = or_abort(open_memstream(&text, &size));

	fprintf(out, "over %s: ", unit_format(UNIT_TIME_NS, of->flow->limit_ns, limit, sizeof(limit)));
	fprintf(out, isnan(over) ? "unknown" : "%.4g %%", 100 * over);
	if (isnan(lost))
		fputs("\nlost: unknown", out);
	else
		fprintf(out, "\nlost: %.0f of %.0f", lost, lost + (double)first->count);
	note_steps(out, of);
	note_outside(out, of, b, BELOW);
	note_outside(out, of, b, BEYOND);
	if (model_metric(first, "max", &max))
		fprintf(out, "\nlargest %s: %s", first->label, unit_human_ns(max, most, sizeof(most)));
	fclose(out);
	return text;
}

/* Broken at blanks, so that a long reason stays inside the figure. */
static char *invalid_text(const struct report_point *p)
{
	const char *reason = model_reason(p);
	char *text;
	size_t column = 0, blank = 0;

	if (model_is_valid(p))
		return fs_path("%s", "");
	text = fs_path("NOT VALID: %s", *reason ? reason : model_outcome(p));
	figure_one_line(text, REASON_MAX);
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

/* "node-size: small: rc, size 32B" */
static char *histogram_title(const struct report *r, const struct flow_series *of)
{
	const struct report_point *p = of->point;
	const char *name = json_string_value(json_object_get(r->runs[p->run].run->run, "name"));
	const char *flow = of->flow->name;

	if (r->run_count > 1)
		name = r->runs[p->run].label;
	return figure_one_line(
	    fs_path("%s%s%s%s%s", name ? name : "", name ? ": " : "", flow, *flow ? ": " : "", p->label),
	    FIGURE_TITLE_MAX);
}

/* --- variables --- */

static uint64_t peak(const struct flow_series *of, const struct bins *b)
{
	uint64_t most = 1;

	for (size_t s = 0; s < of->count; s++)
		for (size_t bin = BELOW + 1; bin < BEYOND; bin++)
			most = b->series[s].count[bin] > most ? b->series[s].count[bin] : most;
	return most;
}

/* Returns the number of rows of the key. */
static size_t histogram_series(struct figures *f, const struct flow_series *of)
{
	size_t longest = 0;
	char text[32];
	int64_t median;

	figure_set_array(f, "series", of->count);
	figure_set_array(f, "median", of->count);
	figure_set_array(f, "median_text", of->count);
	for (size_t i = 0; i < of->count; i++) {
		bool known = model_metric(&of->series[i], "p50", &median);

		figure_set_item(f, "series", i, of->series[i].label);
		longest = strlen(of->series[i].label) > longest ? strlen(of->series[i].label) : longest;
		figure_set_item_number(f, "median", i, known ? (double)median : NAN);
		figure_set_item(f, "median_text", i, known ? unit_human_ns(median, text, sizeof(text)) : "");
	}
	fprintf(f->script, "series_count = %zu\n", of->count);
	return figure_set_key(f, WIDTH, of->count, longest);
}

static void histogram_range(struct figures *f, const struct flow_series *of, const struct bins *b)
{
	struct axis_unit unit = figure_axis_unit((double)b->high);

	figure_set(f, "unit", unit.name);
	figure_set_number(f, "unit_ns", unit.ns);
	figure_set_number(f, "low", (double)b->low);
	figure_set_number(f, "high", (double)b->high);
	figure_set_number(f, "bin", (double)b->width);
	figure_set_number(f, "limit", (double)of->flow->limit_ns);
	/* A quarter of the height stays free for the words. */
	figure_set_number(f, "top", pow((double)peak(of, b) / 0.8, 4 / 3.) * 0.8 + 1);
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

static void set_texts(struct figures *f, const struct report *r, const struct flow_series *of, const struct bins *b)
{
	char *title = histogram_title(r, of), *note = notes(of, b), *invalid = invalid_text(of->point);

	figure_set(f, "title", title);
	figure_set(f, "notes", note);
	figure_set(f, "invalid", invalid);
	fprintf(f->script, "notes_lines = %zu\nnotes_columns = %zu\ninvalid_lines = %zu\n", lines(note), columns(note),
		lines(invalid));
	free(title);
	free(note);
	free(invalid);
}

static char *histogram_text(const struct flow_series *of)
{
	char *text = NULL, median[32];
	size_t size;
	int64_t value;
	FILE *out = or_abort(open_memstream(&text, &size));

	fprintf(out, "Histogram of %s%s%s", of->flow->name, *of->flow->name ? ", " : "", of->point->label);
	for (size_t i = 0; i < of->count; i++)
		if (model_metric(&of->series[i], "p50", &value))
			fprintf(out, "; median %s %s", of->series[i].label,
				unit_human_ns(value, median, sizeof(median)));
	if (!model_is_valid(of->point))
		fprintf(out, "; not valid");
	fclose(out);
	return text;
}

static int add_histogram(struct figures *f, const struct report *r, const struct flow_series *of, struct err *e)
{
	const char *flow = of->flow->name;
	struct bins b;
	FILE *table;

	table =
	    figure_begin(f, "histogram", of->point,
			 fs_path("%s%s%s-histogram", of->point->name, *flow ? "-" : "", flow), histogram_text(of), e);
	f->items[f->count - 1].flow = flow;
	if (table) {
		choose_bins(&b, of);
		fill_bins(&b, of);
		histogram_table(table, of, &b);
		fprintf(f->script, "width = %d\nheight = %zu\n", WIDTH,
			HEIGHT + (histogram_series(f, of) - 1) * FIGURE_KEY_ROW);
		histogram_range(f, of, &b);
		set_texts(f, r, of, &b);
		free(b.series);
	}
	return figure_end(f, table, e);
}

/* False: nothing of it was measured. */
static bool take_flow(struct flow_series *of, const struct report_point *p, const struct layout_flow *flow)
{
	*of = (struct flow_series){.point = p, .flow = flow};
	for (size_t i = 0; i < p->series_count; i++) {
		const struct report_series *s = &p->series[i];

		if (s->flow != flow)
			continue;
		of->series = of->series ? of->series : s;
		of->first = !of->first && model_is_measured(s) ? s : of->first;
		of->count++;
	}
	return of->first;
}

int figure_histogram_add(struct figures *f, const struct report *r, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < r->count; i++)
		for (size_t k = 0; !rc && k < r->points[i].layout.flow_count; k++) {
			struct flow_series of;

			if (take_flow(&of, &r->points[i], &r->points[i].layout.flows[k]))
				rc = add_histogram(f, r, &of, e);
		}
	return rc;
}
