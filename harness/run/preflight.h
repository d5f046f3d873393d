/*
 * What can be known before a run: space for stamps and results, CPUs, descriptors and processes that may be used. Better
 * said now than in the middle.
 */
#ifndef KBLAT_RUN_PREFLIGHT_H
#define KBLAT_RUN_PREFLIGHT_H

#include <stdbool.h>

#include "point/point.h"
#include "run/channel.h"

/* `out_dir` exists; `local`: all endpoints run on this machine. Raises the limit on open descriptors where many flows need
 * it. */
int preflight(const struct point *points, size_t count, const char *out_dir, bool local, struct err *e);

/* May `count` of these ("flows") be held open at once? Raises the limit on descriptors if it can. */
int preflight_files(size_t count, const char *what, size_t files_each, struct err *e);

/* The same of one point on another host, by one of its `endpoints` there. 0, or a negative errno and `e`, which names the host; STATUS_IMPOSSIBLE: too
 * little. */
int preflight_elsewhere(struct channel *c, const char *host, const struct point *p, size_t endpoints, struct err *e);

/* Messages that all points will send, over all repetitions. */
unsigned long long preflight_messages(const struct point *points, size_t count);

#endif
