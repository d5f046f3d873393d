/*
 * A run's summary.json as CSV (RFC 4180), with one row per point and metric: id, valid, every
 * parameter, metric, its statistics, and columns from blocks (judge/analysis/blocks.h), unless no point
 * has the block. Missing values are empty.
 */
#ifndef KBLAT_ANALYSIS_SUMMARY_CSV_H
#define KBLAT_ANALYSIS_SUMMARY_CSV_H

#include <stdio.h>

struct summary;

/* 0 or -EIO. */
int summary_csv(const struct summary *summary, FILE *out);

#endif
