/*
 * data.json: the statistics and histogram of each series of a repetition, for figures and a quick
 * look without the columns.
 */
#ifndef KBLAT_ANALYSIS_REDUCE_H
#define KBLAT_ANALYSIS_REDUCE_H

#include <jansson.h>

#include "files/rundir/layout.h"

/* The content of data.json for a repetition of a flow. New reference, or NULL. */
json_t *reduce_rep(const char *run_path, const struct layout_flow *f, unsigned rep, struct err *e);

/* Write points/<id>/rep-<rep>/data.json, or points/<id>/rep-<rep>/<flow>/data.json for each flow if
 * the point has flows, from the columns in the same folder. */
int reduce_write(const char *run_path, const json_t *resolved, unsigned point, unsigned rep, struct err *e);

#endif
