/*
 * A run's summary.json as CSV (RFC 4180): one row a point and metric: id, valid, every parameter,
 * metric, its statistics, and what blocks have for it (analysis/blocks.h; where no point has a
 * block, none of its columns). Missing values are empty.
 */
#ifndef KBLAT_ANALYSIS_SUMMARY_CSV_H
#define KBLAT_ANALYSIS_SUMMARY_CSV_H

#include <jansson.h>
#include <stdio.h>

/* 0 or -EIO. */
int summary_csv(const json_t *summary, FILE *out);

#endif
