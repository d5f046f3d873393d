/*
 * What is left of a repetition's columns for figures and a quick look: data.json, each series'
 * statistics and histogram.
 */
#ifndef KBLAT_ANALYSIS_REDUCE_H
#define KBLAT_ANALYSIS_REDUCE_H

#include <jansson.h>

#include "rundir/layout.h"

/* What data.json of a repetition of a flow must say. New reference, or NULL. */
json_t *reduce_rep(const char *run_path, const struct layout_flow *f, unsigned rep, struct err *e);

/* Write points/<id>/rep-<rep>/data.json, of a point with flows
 * points/<id>/rep-<rep>/<flow>/data.json of each, from the columns beside it. */
int reduce_write(const char *run_path, const json_t *resolved, unsigned point, unsigned rep, struct err *e);

#endif
