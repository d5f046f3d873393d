/*
 * What can be known before a run: space for stamps and results, CPUs, descriptors and processes that may be used. Better
 * said now than in the middle.
 */
#ifndef KBLAT_RUN_PREFLIGHT_H
#define KBLAT_RUN_PREFLIGHT_H

#include <stdbool.h>

#include "point/point.h"

/* `out_dir` exists; `local`: all endpoints run on this machine. Raises the limit on open descriptors where many flows need
 * it. */
int preflight(const struct point *points, size_t count, const char *out_dir, bool local, struct err *e);

/* Messages that all points will send, over all repetitions. */
unsigned long long preflight_messages(const struct point *points, size_t count);

#endif
