/*
 * The bins of a histogram figure, of one series or of several over each other: 100 of one width,
 * and what lies outside.
 */
#ifndef KBLAT_REPORT_BINS_H
#define KBLAT_REPORT_BINS_H

#include <stdint.h>
#include <stdio.h>

#include "report/model.h"

#define BINS	    100
#define BINS_BELOW  0
#define BINS_BEYOND (BINS + 1)

/* Of one series: the first are below the first bin, the last beyond the last one. */
struct bin_counts {
	uint64_t count[BINS + 2];
};

struct bins {
	int64_t low, width, high; /* ns */
	struct bin_counts *of;	  /* one for each series */
	size_t series_count;
};

/*
 * The first series was measured; the others need not be.
 *
 * Bins end at the first step of 1, 2, 5, 10, ... that is not below the limit (10 us: 100 ns; 50 us:
 * 500 ns), so that figures of one limit can be laid side by side and what is beyond is what
 * over_limit counts. Where that would hide the bulk, they follow the data: more than a tenth of a
 * series beyond, the first one's median in the first two bins, or values below 0.
 */
void bins_make(struct bins *b, const struct report_series *const *series, size_t count, int64_t limit_ns);
void bins_free(struct bins *b);

/* The highest count from bin `first` (0 to BINS - 1) on; at least 1. */
uint64_t bins_peak(const struct bins *b, size_t first);

/* Rows of from_ns, to_ns and the counts, below a heading that has been written. A missing edge: all
 * that is below the first bin, beyond the last. */
void bins_table(FILE *table, const struct bins *b);

#endif
