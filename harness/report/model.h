/*
 * What a report shows, gathered from run directories: every point of every run with its settings, summary and merged
 * histograms, and what tells the points apart. Figures and page are made from this alone.
 */
#ifndef KBLAT_REPORT_MODEL_H
#define KBLAT_REPORT_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/stats.h"
#include "rundir/reader.h"

#define REPORT_SERIES 4

struct report_series {
	const char *key;	    /* "lat_ns" */
	const char *label;	    /* "t_lat" */
	struct histogram histogram; /* of all repetitions; bins 0: nothing was measured */
	uint64_t count;		    /* what is in it */
	const json_t *metric;	    /* of the summary; NULL if there is none */
};

struct report_point {
	size_t run; /* index */
	unsigned id;
	const json_t *params;
	int64_t limit_ns;      /* what "over_limit" is about */
	const json_t *summary; /* NULL if there is none */
	json_t *outcome;       /* point.json; NULL if the point was never begun */
	struct report_series series[REPORT_SERIES];
	size_t series_count;
	char *label; /* the values of what varies: "rc, busy, size 32B" */
	char *name;  /* of its files: "point-0003", "run-2-point-0003" */
};

struct report_run {
	const struct run *run;
	json_t *summary; /* the run's, or computed where it has none yet; NULL if that was not possible */
	char *label;	 /* tells the runs apart: the host where that does, else the directory's name */
	char *hosts;	 /* "a and b" */
};

struct report {
	struct report_run *runs;
	size_t run_count;
	struct report_point *points;
	size_t count;
	const char **varying; /* keys of params, in order of appearance */
	size_t varying_count;
};

/* `runs` must outlive the report. 0 or a negative errno; release with report_free in either case. */
int report_gather(struct report *r, const struct run *runs, size_t count, struct err *e);
void report_free(struct report *r);

/* Whether anything was measured in a series; whether a point's numbers may be quoted, and the first reason why not (""
 * if there is none). */
bool series_is_measured(const struct report_series *s);
bool point_is_valid(const struct report_point *p);
const char *point_reason(const struct report_point *p);
const char *point_outcome(const struct report_point *p); /* "completed", ..., "not measured" */

/* How a value of params reads ("10us", "32B", "yes"), and how its key does without the unit ("size"). Both return
 * `buf`. */
char *param_value(const char *key, const json_t *value, char *buf, size_t size);
char *param_name(const char *key, char *buf, size_t size);

/* An integer of the summary ("p50", "max"); false where it is null or missing. */
bool metric_ns(const struct report_series *s, const char *key, int64_t *value);

/*
 * Nearest rank over a merged histogram, exact where its width is 1; false with fewer than `beyond` samples on the
 * quantile's outer side.
 */
bool series_quantile(const struct report_series *s, double p, uint64_t beyond, int64_t *value);

#endif
