/*
 * How long points took in former runs, for forecasts. The duration of each point is in log.jsonl of a run directory.
 * Two points count as the same if all their settings agree, except those that only say how long to measure
 * (resolved.json: bookkeeping). Files that cannot be read are skipped, as forecasts do not depend on them.
 */
#ifndef KBLAT_RUN_FORMER_H
#define KBLAT_RUN_FORMER_H

#include <jansson.h>

#include "run/forecast.h"

struct former {
	json_t *points; /* by their identity as text: {"params", "took_ms"} */
};

/* Of the newest runs of that name in the directory `runs`, and in the campaigns in it. NULL: of none. */
void former_open(struct former *f, const char *runs, const char *name);
void former_close(struct former *f);

/* A point's forecast, corrected if a former run had the same point. */
struct forecast former_forecast(const struct former *f, const struct point *p);

#endif
