/*
 * Checks before a run, so that it does not fail in the middle: space for stamps and results, and the permitted CPUs,
 * descriptors and processes.
 */
#ifndef KBLAT_RUN_PREFLIGHT_H
#define KBLAT_RUN_PREFLIGHT_H

#include <stdbool.h>

#include "measure/point/point.h"
#include "measure/run/channel.h"

/* `out_dir` must exist; `local`: all endpoints run on this machine. Raises the limit on open descriptors if there are
 * many flows. */
int preflight(const struct point *points, size_t count, const char *out_dir, bool local, struct err *e);

/* May `count` of them ("flows") be open at the same time? Raises the limit on descriptors if possible. */
int preflight_files(size_t count, const char *what, size_t files_each, struct err *e);

/* The same for one point on another host, examined by one of its `endpoints` there. 0, or a negative errno and `e`,
 * which names the host; STATUS_IMPOSSIBLE if there is too little. */
int preflight_elsewhere(struct channel *c, const char *host, const struct point *p, size_t endpoints, struct err *e);

/* Why a point is not possible on this machine, as its transport knows beforehand; NULL: it does not know. */
const char *preflight_missing(const struct point *p);

/* How many points that are, and why in `why`, with what to do. */
size_t preflight_count_missing(const struct point *points, size_t count, const char **why);

/* Messages that all points will send, over all repetitions. */
unsigned long long preflight_messages(const struct point *points, size_t count);

#endif
