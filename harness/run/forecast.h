/*
 * How long a point, and a run of points, will take. Part of it is prescribed: pauses, gaps and a pacer's steps, none of which
 * can take less. The rest is what the messages themselves take, and what is done around them; that depends on the machine and is
 * assumed (struct transport_typical, and the constants in forecast.c), or taken from a former run of the same point (former.h).
 *
 * Pure.
 */
#ifndef KBLAT_RUN_FORECAST_H
#define KBLAT_RUN_FORECAST_H

#include <jansson.h>

#include "point/point.h"

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

/* From the start of its endpoints until they have ended; without its environment, which points may share. */
struct forecast forecast_point(const struct point *p);

/* The same point took so long when `former` was expected: what was not prescribed is scaled by what it really was. */
struct forecast forecast_correct(struct forecast t, struct forecast former, double took_s);

/* `sum` and so many times `t`. */
void forecast_add(struct forecast *sum, struct forecast t, double times);

/* How long what is left will take, if `done` took so long: what is not prescribed goes on as fast as it went. */
double forecast_left_s(struct forecast done, struct forecast left, double passed_s);

/* {"expected_s", "paced_s", "basis": "former run" or "assumptions"} of it, into `object`. */
void forecast_to_json(const struct forecast *t, json_t *object);

#define FORECAST_TEXT_MAX 64

/* "850 ms", "12 s", "3 min 20 s", "2 h 5 min"; "about 3 min 20 s (at least 3 min 0 s)": return `buf`. */
char *forecast_text(double seconds, char *buf, size_t size);
char *forecast_sentence(const struct forecast *t, char *buf, size_t size);

#endif
