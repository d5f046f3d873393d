#include "judge/analysis/histogram.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/or_abort.h"
#include "judge/analysis/stats.h"
#include "judge/analysis/window.h"

/*
 * Different values with their counts: a hash table of fixed size (open addressing, at most half
 * full). When it contains more than `max` of them, the lowest bit of all keys is dropped,
 * repeatedly if necessary. So the width is the smallest one possible, whatever the order of values.
 */
struct value_counts {
	struct entry {
		int64_t key;	/* value >> shift */
		uint64_t count; /* 0: free */
	} * entries;
	size_t mask, used, max;
	unsigned shift;
};

static int value_counts_alloc(struct value_counts *t, size_t max)
{
	size_t size = 1024;

	while (size / 2 <= max)
		size *= 2;
	*t = (struct value_counts){.mask = size - 1, .max = max};
	t->entries = large_alloc(size, sizeof(*t->entries));
	return t->entries ? 0 : -ENOMEM;
}

static void value_counts_put(struct value_counts *t, int64_t key, uint64_t count)
{
	/* Fibonacci hashing, because keys are usually neighbours, and it moves neighbours far apart. */
	size_t i = (size_t)(((uint64_t)key * 0x9e3779b97f4a7c15u) >> 24) & t->mask;

	while (t->entries[i].count && t->entries[i].key != key)
		i = (i + 1) & t->mask;
	t->used += !t->entries[i].count;
	t->entries[i].key = key;
	t->entries[i].count += count;
}

/* Move used entries to the front. Returns their number. */
static size_t compact(struct entry *entries, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < size; i++)
		if (entries[i].count)
			entries[n++] = entries[i];
	return n;
}

static int coarsen(struct value_counts *t)
{
	struct entry *old = large_alloc((t->used + 1), sizeof(*old));
	size_t n = compact(t->entries, t->mask + 1);

	if (!old)
		return -ENOMEM;
	memcpy(old, t->entries, n * sizeof(*old));
	memset(t->entries, 0, (t->mask + 1) * sizeof(*t->entries));
	t->shift++;
	t->used = 0;
	/* An arithmetic shift rounds down, for negative values as well. */
	for (size_t i = 0; i < n; i++)
		value_counts_put(t, old[i].key >> 1, old[i].count);
	free(old);
	return 0;
}

static int value_counts_add(struct value_counts *t, int64_t value, uint64_t count)
{
	int rc = 0;

	value_counts_put(t, value >> t->shift, count);
	while (!rc && t->used > t->max)
		rc = coarsen(t);
	return rc;
}

/* Values inside the window are only counted there; the others go to the table immediately. */
static int add_span(const struct span *s, const struct window *w, struct value_counts *t)
{
	const struct window here = *w;
	int rc = 0;

	for (size_t i = 0; !rc && i < s->count; i++) {
		int64_t value;
		uint64_t offset;

		if (!span_sample(s, i, &value))
			continue;
		offset = window_offset(&here, value);
		if (__builtin_expect(offset <= here.reach, 1))
			here.counts[offset]++;
		else
			rc = value_counts_add(t, value, 1);
	}
	return rc;
}

static int add_window(const struct window *w, struct value_counts *t)
{
	int rc = 0;

	for (size_t i = 0; !rc && i <= w->reach; i++)
		if (w->counts[i])
			rc = value_counts_add(t, (int64_t)((uint64_t)w->base + i), w->counts[i]);
	return rc;
}

static int histogram_count(const struct span *spans, size_t span_count, struct value_counts *t)
{
	struct window w;
	int rc = window_alloc(&w);

	if (rc)
		return rc;
	window_place_guessed(&w, spans, span_count);
	if (w.reach >= WINDOW_BINS)
		window_place(&w, (struct range){w.base, w.base + (int64_t)WINDOW_BINS - 1});
	for (size_t k = 0; !rc && k < span_count; k++)
		rc = add_span(&spans[k], &w, t);
	if (!rc)
		rc = add_window(&w, t);
	window_free(&w);
	return rc;
}

static int compare_keys(const void *a, const void *b)
{
	int64_t x = ((const struct entry *)a)->key, y = ((const struct entry *)b)->key;

	return (x > y) - (x < y);
}

static int histogram_alloc(struct histogram *h, size_t bins)
{
	memset(h, 0, sizeof(*h));
	h->value = large_alloc(bins + 1, sizeof(*h->value));
	h->count = large_alloc(bins + 1, sizeof(*h->count));
	if (h->value && h->count)
		return 0;
	histogram_free(h);
	return -ENOMEM;
}

static int from_table(struct histogram *h, struct value_counts *t)
{
	size_t n = compact(t->entries, t->mask + 1);

	if (histogram_alloc(h, n))
		return -ENOMEM;
	qsort(t->entries, n, sizeof(*t->entries), compare_keys);
	h->bins = n;
	h->width = (int64_t)1 << t->shift;
	for (size_t i = 0; i < n; i++) {
		h->value[i] = (int64_t)((uint64_t)t->entries[i].key << t->shift);
		h->count[i] = t->entries[i].count;
	}
	return 0;
}

int histogram_compute(const struct span *spans, size_t span_count, size_t max_bins, struct histogram *out,
		      struct err *e)
{
	const size_t samples = span_total(spans, span_count);
	struct value_counts t;
	int rc;

	memset(out, 0, sizeof(*out));
	max_bins = samples < max_bins ? samples : max_bins;
	/* With the largest width that fits in an int64, 2^62, four bins may be needed. */
	rc = value_counts_alloc(&t, max_bins < 4 ? 4 : max_bins);
	if (!rc)
		rc = histogram_count(spans, span_count, &t);
	if (!rc)
		rc = from_table(out, &t);
	free(t.entries);
	return rc ? err_sys(e, rc, NULL, "compute a histogram") : 0;
}

void histogram_free(struct histogram *h)
{
	free(h->value);
	free(h->count);
	memset(h, 0, sizeof(*h));
}

json_t *histogram_json(const struct histogram *h)
{
	json_t *values = json_array(), *counts = json_array();

	for (size_t i = 0; i < h->bins; i++) {
		json_array_append_new(values, json_integer(h->value[i]));
		json_array_append_new(counts, json_integer((json_int_t)h->count[i]));
	}
	return json_pack("{s:I, s:o, s:o}", "width", (json_int_t)h->width, "values", values, "counts", counts);
}

static int histogram_refuse(struct err *e, const char *cause)
{
	return err_set(e, -EINVAL, STATUS_USAGE, "histogram", NULL, "%s", cause);
}

/* Read and check the bins: values must be ascending integers, counts must be positive and their sum
 * must fit. */
static int read_bins(const json_t *values, const json_t *counts, struct histogram *h, struct err *e)
{
	int64_t sum = 0;

	for (size_t i = 0; i < h->bins; i++) {
		const json_t *value = json_array_get(values, i), *count = json_array_get(counts, i);

		if (!json_is_integer(value) || !json_is_integer(count))
			return histogram_refuse(e, "values and counts must be integers");
		h->value[i] = json_integer_value(value);
		h->count[i] = (uint64_t)json_integer_value(count);
		if (i && h->value[i] <= h->value[i - 1])
			return histogram_refuse(e, "values must be ascending");
		if (json_integer_value(count) <= 0 || __builtin_add_overflow(sum, json_integer_value(count), &sum))
			return histogram_refuse(e, "counts must be positive, and their sum must fit in 64 bits");
	}
	return 0;
}

int histogram_from_json(const json_t *j, struct histogram *out, struct err *e)
{
	const json_t *width = json_object_get(j, "width");
	const json_t *values = json_object_get(j, "values"), *counts = json_object_get(j, "counts");
	int rc;

	memset(out, 0, sizeof(*out));
	if (!json_is_integer(width) || json_integer_value(width) < 1 ||
	    (json_integer_value(width) & (json_integer_value(width) - 1)))
		return histogram_refuse(e, "its width must be a power of two");
	if (!json_is_array(values) || !json_is_array(counts) || json_array_size(values) != json_array_size(counts))
		return histogram_refuse(e, "values and counts must be two arrays of the same length");
	if (histogram_alloc(out, json_array_size(values)))
		return err_sys(e, -ENOMEM, NULL, "read a histogram");
	out->width = json_integer_value(width);
	out->bins = json_array_size(values);
	rc = read_bins(values, counts, out, e);
	if (rc)
		histogram_free(out);
	return rc;
}
