/*
 * The summary of a run: what summary.json says.
 */
#ifndef KBLAT_ANALYSIS_SUMMARY_H
#define KBLAT_ANALYSIS_SUMMARY_H

#include <jansson.h>

struct err;
struct run;

/*
 * The summary, computed from columns and counters alone (nothing cached is read): what summary.json
 * must say. `run`: run.json; `resolved`: resolved.json. New reference, or NULL. Also gives every
 * point its own summary (the same object as in "points").
 */
json_t *summary_build(const char *run_path, const json_t *run, const json_t *resolved, struct err *e);

/* What a run says of itself: its summary.json, or one made of what there is where it is not sealed.
 * New reference, or NULL. */
json_t *summary_of_run(const struct run *run, struct err *e);

/* Write summary.json, summary.csv, points/<nnnn>/summary.json. */
int summary_write(const char *run_path, const json_t *summary, struct err *e);

#endif
