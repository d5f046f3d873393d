#include "report/histogram_notes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/units.h"
#include "report/figure.h"
#include "report/missed_steps.h"

#define REASON_MAX  270
#define REASON_LINE 90

/* Writes the note about one item. */
typedef void print_item(FILE *out, const struct report_item *i);

static double real_of(const struct report_item *i, const char *key)
{
	const json_t *j = json_object_get(i->series->metric, key);

	return json_is_number(j) ? json_number_value(j) : NAN;
}

static void print_over(FILE *out, const struct report_item *i)
{
	double over = real_of(i, "over_limit");

	fprintf(out, isnan(over) ? "unknown" : "%.4g %%", 100 * over);
}

static void print_lost(FILE *out, const struct report_item *i)
{
	double lost = real_of(i, "lost");

	if (isnan(lost))
		fputs("unknown", out);
	else
		fprintf(out, "%.0f of %.0f", lost, lost + (double)i->series->count);
}

static void print_largest(FILE *out, const struct report_item *i)
{
	char text[32];
	int64_t max;

	fputs(model_metric(i->series, "max", &max) ? unit_human_ns(max, text, sizeof(text)) : "unknown", out);
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

static void print_clock_error(FILE *out, const struct report_item *i)
{
	const double error = real_of(i, CLOCK_ERROR_KEY);
	char text[32];

	fputs(isnan(error) ? "none" : unit_human_ns((int64_t)error, text, sizeof(text)), out);
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

static bool has_clock_error(const struct report_item *i)
{
	return json_is_integer(json_object_get(i->series->metric, CLOCK_ERROR_KEY));
}

static bool has_largest(const struct report_item *i)
{
	int64_t max;

	return model_metric(i->series, "max", &max);
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

char *histogram_notes(const struct report_item *items, size_t count, const struct bins *bins, const char *const *labels)
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

char *histogram_notes_invalid(const struct report_item *items, size_t count)
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
