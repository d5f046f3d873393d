/*
 * The table at the end of a run, for people: one row per point, or per flow of a point; columns
 * only for parameters that vary; the statistics of the first metric and of blocks, as selected in
 * judge/analysis/statistics.h and blocks.h; then the reasons why points are not valid.
 */
#ifndef KBLAT_ANALYSIS_SUMMARY_TABLE_H
#define KBLAT_ANALYSIS_SUMMARY_TABLE_H

#include <stdio.h>

struct summary;

/* Several runs may be shown as one table. */
void summary_table(const struct summary *const *summaries, size_t count, FILE *out);

/* The same without the table, where nothing could be measured. */
void summary_reasons(const struct summary *const *summaries, size_t count, FILE *out);

#endif
