/*
 * How long a point, and a run of points, will take. A part of this time is prescribed by settings: pauses, gaps and the
 * steps of a pacer. The rest is needed by the messages and by the work around them; it depends on the machine. It is
 * either assumed (struct transport_typical, and the constants in forecast.c) or taken from a former run of the same
 * point.
 */
#ifndef KBLAT_RUN_FORECAST_H
#define KBLAT_RUN_FORECAST_H

#include <jansson.h>

#include "measure/spec/spec_types.h"

struct forecast {
	double paced_s;	 /* prescribed: a lower bound */
	double rest_s;	 /* assumed, or as it was before */
	double messages; /* whose stamps are kept */
	bool is_former;	 /* corrected by a former run of that point */
};

static inline double forecast_seconds(const struct forecast *t)
{
	return t->paced_s + t->rest_s;
}

/* From the start of a point's endpoints until they have ended. Applying its environment is not included, as points may
 * share it. */
struct forecast forecast_point(const struct point *p);

/* Corrects a forecast by a former run of the same point, in which `former` was expected: the part that is not
 * prescribed is scaled to the time that it really took. */
struct forecast forecast_correct(struct forecast t, struct forecast former, double took_s);

/* Adds `times` times `t` to `sum`. */
void forecast_add(struct forecast *sum, struct forecast t, double times);

/* How long the rest will take if `done` took `passed_s`: the part that is not prescribed is assumed to go on at the same
 * speed. */
double forecast_left_s(struct forecast done, struct forecast left, double passed_s);

/* {"expected_s", "paced_s", "basis": "former run" or "assumptions"} of it, into `object`. */
void forecast_to_json(const struct forecast *t, json_t *object);

#define FORECAST_TEXT_MAX 64

/* "850 ms", "12 s", "3 min 20 s", "2 h 5 min"; "about 3 min 20 s (at least 3 min 0 s)": return `buf`. */
char *forecast_text(double seconds, char *buf, size_t size);
char *forecast_sentence(const struct forecast *t, char *buf, size_t size);

/*
 * How long points took in former runs. The duration of each point is in log.jsonl of a run directory.
 * Two points count as the same if all their settings agree, except those that only say how long to
 * measure (resolved.json: bookkeeping). Files that cannot be read are skipped, as forecasts do not
 * depend on them.
 */
struct earlier_runs {
	json_t *points; /* by their identity as text: {"params", "took_ms"} */
};

/* Of the newest runs of that name in the directory `runs`, and in the campaigns in it. NULL: of none. */
void earlier_runs_open(struct earlier_runs *f, const char *runs, const char *name);
void earlier_runs_close(struct earlier_runs *f);

/* A run of the spec: each of its points, into `each` (room for all of them, or NULL), and the sum of all of them and
 * what is done once. Former runs are looked for in `runs`, a directory (NULL: none is). */
struct forecast forecast_run(const struct spec *spec, const char *runs, struct forecast *each);

#endif
