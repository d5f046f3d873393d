#include "judge/analysis/series.h"

#include <errno.h>
#include <stdlib.h>

#include "common/fs.h"
#include "judge/analysis/stats.h"

struct span series_span(const struct rep *r, const struct layout_series *s)
{
	const struct npy *column = &r->columns[s->column];

	if (s->lag)
		return (struct span){
		    .a = column->count ? column->data + 1 : NULL,
		    .b = column->data,
		    .count = column->count ? column->count - 1 : 0,
		};
	return (struct span){
	    .a = column->data,
	    .b = s->minus < 0 ? NULL : r->columns[s->minus].data,
	    .count = column->count,
	};
}

uint64_t series_absent(const struct rep *r, const struct layout_series *s)
{
	const struct span span = series_span(r, s);
	const int64_t *recorded = s->only_where_recorded < 0 ? NULL : r->columns[s->only_where_recorded].data;
	uint64_t absent = 0;
	int64_t ignored;

	for (size_t i = 0; recorded && i < span.count; i++)
		absent += recorded[i] == NEVER && !span_sample(&span, i, &ignored);
	return absent;
}

/* Rounds down, also below zero: gcc and clang shift signed numbers arithmetically. */
static int64_t half(int64_t value)
{
	return value >> 1;
}

static void halve_stats(struct stats *s)
{
	s->min = half(s->min);
	s->max = half(s->max);
	for (unsigned q = 0; q < QUANTILES; q++)
		s->quantile[q] = half(s->quantile[q]);
	s->mean /= 2;
	s->stdev /= 2;
}

/* half(x) > limit if and only if x > 2 * limit + 1, unless that overflows. */
static int64_t bound_of_half(int64_t limit)
{
	if (limit > (INT64_MAX - 1) / 2)
		return INT64_MAX;
	return limit < INT64_MIN / 2 ? INT64_MIN : 2 * limit + 1;
}

int series_stats(const struct layout_series *s, const struct span *spans, size_t count, uint64_t absent, int64_t limit,
		 struct stats *out, struct err *e)
{
	int64_t bound = s->divide == 2 ? bound_of_half(limit) : limit;
	int rc = stats_compute(spans, count, bound, out, e);

	if (rc)
		return rc;
	if (s->divide == 2)
		halve_stats(out);
	out->lost = s->sparse ? 0 : out->lost - absent;
	return 0;
}

/* Two neighbouring bins of width 1 become one; wider bins become half as wide. */
static void halve_histogram(struct histogram *h)
{
	size_t bins = 0;

	for (size_t i = 0; i < h->bins; i++) {
		int64_t value = half(h->value[i]);

		if (bins && h->value[bins - 1] == value) {
			h->count[bins - 1] += h->count[i];
			continue;
		}
		h->value[bins] = value;
		h->count[bins++] = h->count[i];
	}
	h->bins = bins;
	if (h->width > 1)
		h->width /= 2;
}

int series_histogram(const struct layout_series *s, const struct span *spans, size_t count, size_t max_bins,
		     struct histogram *out, struct err *e)
{
	int rc = histogram_compute(spans, count, max_bins, out, e);

	if (!rc && s->divide == 2)
		halve_histogram(out);
	return rc;
}

struct counted_loss counted_loss(const struct layout_flow *f, const struct rep *reps, size_t count)
{
	static const char *const sides[] = {"source", "sink"};
	struct counted_loss sum = {0, 0};
	json_int_t received = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t side = 0; side < sizeof(sides) / sizeof(sides[0]); side++) {
			sum.sent += rep_counter(&reps[i], sides[side], "posted");
			received += rep_counter(&reps[i], sides[side], "received") -
				    rep_counter(&reps[i], sides[side], "duplicates");
		}
	sum.lost = f->traits.passive || received > sum.sent ? 0 : sum.sent - received;
	return sum;
}

static int open_control_column(const char *dir, const char *name, struct npy *out, struct err *e)
{
	char *path = fs_path("%s/%s.npy", dir, name);
	int rc = npy_open(path, out, e);

	free(path);
	return rc;
}

int control_stats(const char *dir, const struct layout_flow *f, const struct layout_series *s, struct stats *out,
		  struct err *e)
{
	struct npy a = {0}, b = {0};
	int rc = open_control_column(dir, f->columns[s->column], &a, e);

	if (!rc)
		rc = open_control_column(dir, f->columns[s->minus], &b, e);
	if (!rc) {
		struct span span = {a.data, b.data, a.count < b.count ? a.count : b.count};

		rc = series_stats(s, &span, 1, 0, f->limit_ns, out, e);
	}
	if (npy_close(&a, e))
		rc = -EIO;
	return npy_close(&b, e) ?: rc;
}
