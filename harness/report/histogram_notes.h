/*
 * What the bars of a histogram figure do not show: the text in its box, and why it is not valid.
 */
#ifndef KBLAT_REPORT_HISTOGRAM_NOTES_H
#define KBLAT_REPORT_HISTOGRAM_NOTES_H

#include "report/bins.h"
#include "report/model.h"

/*
 * For each item: the share over its limit, lost messages, missing steps, and the largest latency.
 * For each series of `bins`, in the order of the key: what lies outside of them. `labels`: names of
 * the series; NULL: their order identifies them. The caller frees.
 */
char *histogram_notes(const struct report_item *items, size_t count, const struct bins *bins,
		      const char *const *labels);

/* "NOT VALID: ..." for the first point that is not valid, on lines that fit the figure; "" if all
 * points are valid. The caller frees. */
char *histogram_notes_invalid(const struct report_item *items, size_t count);

#endif
