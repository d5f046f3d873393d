/*
 * How long a run of points will take.
 */
#ifndef KBLAT_RUN_FORECAST_RUN_H
#define KBLAT_RUN_FORECAST_RUN_H

#include "run/forecast.h"

/* A run of points: each of them, into `each` (room for `count`, or NULL), and the sum of all of them and what is done once. Former runs
 * are looked for in `runs`, a directory (NULL: none is). The name is the spec's. */
struct forecast forecast_run(const struct point *points, size_t count, const char *runs, const char *name,
			     struct forecast *each);

#endif
