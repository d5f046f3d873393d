#include "report/bins.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/or_abort.h"

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

static int64_t middle_of(const struct histogram *h, size_t bin)
{
	int64_t middle;

	return __builtin_add_overflow(h->value[bin], h->width / 2, &middle) ? INT64_MAX : middle;
}

static size_t bin_of(const struct bins *b, int64_t value)
{
	return value < b->low ? BINS_BELOW : value >= b->high ? BINS_BEYOND : 1 + (size_t)((value - b->low) / b->width);
}

void bins_make(struct bins *b, const struct report_series *const *series, size_t count, int64_t limit_ns)
{
	*b = (struct bins){.of = or_abort(calloc(count, sizeof(*b->of))), .series_count = count};
	if (!choose_by_limit(b, series, count, limit_ns))
		choose_by_data(b, series, count);
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
		fprintf(table, "%" PRId64, b->low + (int64_t)(bin - 1) * b->width);
}

void bins_table(FILE *table, const struct bins *b)
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
