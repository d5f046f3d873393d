/*
 * What points took in former runs, for forecasts. A run directory's log.jsonl says how long each point took; a point is the
 * same if all its settings are but those that say how long to measure (resolved.json: bookkeeping). What cannot be read is
 * passed over: a forecast needs none of it.
 */
#ifndef KBLAT_RUN_FORMER_H
#define KBLAT_RUN_FORMER_H

#include <jansson.h>

#include "run/forecast.h"

struct former {
	json_t *points; /* by what tells them apart, as text: {"params", "took_ms"} */
};

/* Of the newest runs of that name in the directory `runs`, and in the campaigns in it. NULL: of none. */
void former_open(struct former *f, const char *runs, const char *name);
void former_close(struct former *f);

/* A point's forecast, corrected where a former run had the point. */
struct forecast former_forecast(const struct former *f, const struct point *p);

#endif
