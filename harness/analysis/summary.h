/*
 * The summary of a run: the content of summary.json.
 */
#ifndef KBLAT_ANALYSIS_SUMMARY_H
#define KBLAT_ANALYSIS_SUMMARY_H

#include <jansson.h>

struct err;
struct run;

/*
 * Compute the summary, which is the content of summary.json, from columns and counters alone;
 * nothing cached is read. `run`: run.json; `resolved`: resolved.json. Also stores each point's own
 * summary (the same object as in "points"). New reference, or NULL.
 */
json_t *summary_build(const char *run_path, const json_t *run, const json_t *resolved, struct err *e);

/* The summary of a run: its summary.json, or if the run is not sealed, one made from the available
 * data. New reference, or NULL. */
json_t *summary_of_run(const struct run *run, struct err *e);

/* Write summary.json, summary.csv, points/<nnnn>/summary.json. */
int summary_write(const char *run_path, const json_t *summary, struct err *e);

#endif
