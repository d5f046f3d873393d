/*
 * What a report shows (gather.h reads it from run directories): every point of every run with its
 * settings, summary and merged histograms, and what tells the points apart. Figures and page are made
 * from this alone.
 */
#ifndef KBLAT_REPORT_MODEL_H
#define KBLAT_REPORT_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/histogram.h"
#include "rundir/reader.h"

struct report_series {
	const char *name;	    /* "lat_ns": in data.json, and of the summary's metrics */
	const char *label;	    /* "t_lat" */
	bool leads;		    /* the first that its kernel has: the one that courses show */
	struct histogram histogram; /* of all repetitions; bins 0: nothing was measured */
	uint64_t count;		    /* what is in it */
	const json_t *metric;	    /* of the summary; NULL if there is none */
};

struct report_point {
	size_t run; /* index */
	unsigned id;
	const json_t *params;
	int64_t limit_ns;	      /* what "over_limit" is about */
	const json_t *summary;	      /* NULL if there is none */
	json_t *outcome;	      /* point.json; NULL if the point was never begun */
	struct report_series *series; /* those of which something was recorded, or is known to be lost */
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

void model_free(struct report *r);

/* Whether anything was measured in a series. */
bool model_is_measured(const struct report_series *s);

/* The series that courses show, NULL where nothing of it was measured. */
const struct report_series *model_leading(const struct report_point *p);

/* Whether a point's numbers may be quoted, and the first reason why not ("" if there is none). */
bool model_is_valid(const struct report_point *p);
const char *model_reason(const struct report_point *p);
const char *model_outcome(const struct report_point *p); /* "completed", ..., "not measured" */

/* An integer of the summary ("p50", "max"); false where it is null or missing. */
bool model_metric(const struct report_series *s, const char *key, int64_t *value);

/*
 * Nearest rank over a merged histogram, exact where its width is 1; false with fewer than `beyond` samples on the
 * quantile's outer side.
 */
bool model_quantile(const struct report_series *s, double p, uint64_t beyond, int64_t *value);

#endif
