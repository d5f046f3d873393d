/*
 * Makes the summary of a run, and writes it.
 */
#ifndef KBLAT_ANALYSIS_SUMMARY_BUILD_H
#define KBLAT_ANALYSIS_SUMMARY_BUILD_H

#include <stdio.h>

#include "judge/analysis/summary.h"

struct err;
struct run;
struct run_record;

/*
 * Compute the summary from columns and counters alone; nothing cached is read. `resolved`:
 * resolved.json. To be released with summary_free(); NULL and `e` on failure.
 */
struct summary *summary_build(const char *run_path, const struct run_record *record, const json_t *resolved,
			      struct err *e);

/* That of a run: its summary.json, or if the run is not sealed, one made from the available data. */
struct summary *summary_of_run(const struct run *run, struct err *e);

/* No number of a run is valid whose JSON files are not as they were sealed. */
void summary_doubt(struct summary *s, const struct run *run);

/* Write summary.json, summary.csv, points/<nnnn>/summary.json. */
int summary_write(const char *run_path, const struct summary *summary, struct err *e);

/*
 * As CSV (RFC 4180), with one row per point and metric: id, valid, every parameter, metric, its statistics, and columns
 * from blocks (judge/analysis/blocks.h), unless no point has the block. Missing values are empty. 0 or -EIO.
 */
int summary_csv(const struct summary *summary, FILE *out);

#endif
