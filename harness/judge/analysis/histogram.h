/*
 * A sparse, exact histogram of differences of columns, for figures.
 */
#ifndef KBLAT_ANALYSIS_HISTOGRAM_H
#define KBLAT_ANALYSIS_HISTOGRAM_H

#include <jansson.h>

#include "judge/analysis/stats.h"

/*
 * Values in ascending order with their counts. If there are more than `max_bins` different values,
 * neighbours share a bin whose width is a power of two (`width` 1: exact). Values are the lower
 * edges of bins.
 */
struct histogram {
	int64_t *value;
	uint64_t *count;
	size_t bins;
	int64_t width;
};

int histogram_compute(const struct span *spans, size_t span_count, size_t max_bins, struct histogram *out,
		      struct err *e);
void histogram_free(struct histogram *h);

/* {"width", "values": [...], "counts": [...]} and back (checked: values ascend, counts are positive). */
json_t *histogram_json(const struct histogram *h);
int histogram_from_json(const json_t *j, struct histogram *out, struct err *e);

#endif
