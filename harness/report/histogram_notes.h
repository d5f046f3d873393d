/*
 * What the bars of a histogram figure do not show: the words in its box, and why it is not valid.
 */
#ifndef KBLAT_REPORT_HISTOGRAM_NOTES_H
#define KBLAT_REPORT_HISTOGRAM_NOTES_H

#include "report/bins.h"
#include "report/model.h"

/*
 * Of each item the share over its limit, messages lost, steps missing, and the largest latency; of
 * each series of `bins` what lies outside of them, in the order of the key. `labels`: of the series,
 * to name them; NULL: their order does. For the caller to free.
 */
char *histogram_notes(const struct report_item *items, size_t count, const struct bins *bins,
		      const char *const *labels);

/* "NOT VALID: ..." on lines that fit the figure, of the first point that is not valid; "" if all
 * are. For the caller to free. */
char *histogram_notes_invalid(const struct report_item *items, size_t count);

#endif
