/*
 * What a report shows (gather.h reads it from run directories): every point of every run with its
 * settings, summary and merged histograms, and what tells the points apart. Figures and page are
 * made from this alone.
 */
#ifndef KBLAT_REPORT_MODEL_H
#define KBLAT_REPORT_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/histogram.h"
#include "rundir/layout.h"
#include "rundir/reader.h"

struct claim_verdicts;

struct report_series {
	const struct layout_flow *flow; /* whose it is */
	const char *name;		/* "lat_ns": in data.json */
	char *key;			/* of the summary's metrics: "lat_ns", of a flow "small.lat_ns" */
	char *label;			/* "t_lat", "small t_lat" */
	bool leads;			/* the first of its flow, which stands for it in figures with one series */
	struct histogram histogram;	/* of all repetitions; bins 0: nothing was measured */
	uint64_t count;			/* what is in it */
	const json_t *metric;		/* of the summary; NULL if there is none */
};

struct report_point {
	size_t run; /* index */
	unsigned id;
	const json_t *params;
	struct layout layout;	      /* its flows */
	const json_t *summary;	      /* NULL if there is none */
	json_t *outcome;	      /* point.json; NULL if the point was never begun */
	struct report_series *series; /* flow by flow; only where something was recorded, or is known to be lost */
	size_t series_count;
	char *label; /* the values of what varies: "rc, busy, size 32B" */
	char *name;  /* of its files: "point-0003", "run-2-point-0003" */
};

/* A series of a point. */
struct report_item {
	const struct report_point *point;
	const struct report_series *series;
};

struct report_run {
	const struct run *run;
	json_t *summary; /* the run's, or computed where it has none yet; NULL if that was not possible */
	char *label;	 /* tells the runs apart: the host where that does, else the directory's name */
	char *hosts;	 /* "a and b" */
};

/* Settings that vary, in order of appearance. */
struct report_keys {
	const char **key;
	size_t count;
};

struct report {
	struct report_run *runs;
	size_t run_count;
	struct report_point *points;
	size_t count;
	struct report_item *leading; /* of each point and flow, where it was measured */
	size_t leading_count;
	struct report_keys varying;	     /* of points: "size_bytes", "small.size_bytes" */
	const struct claim_verdicts *claims; /* of the runs; NULL: not known */
	struct report_keys in_flows;	     /* of flows, which differ among each other: "size_bytes" */
};

void model_free(struct report *r);
void model_free_series(struct report_series *s);

/* Whether some point has flows with names. */
bool model_has_flows(const struct report *r);

/* Whether anything was measured in a series. */
bool model_is_measured(const struct report_series *s);

/* Whether a point's numbers may be quoted, and the first reason why not ("" if there is none). */
bool model_is_valid(const struct report_point *p);
const char *model_reason(const struct report_point *p);
const char *model_outcome(const struct report_point *p); /* "completed", ..., "not measured" */

/* What point.json says of one side of a flow: "granted" or "placement" of the "source" or "sink".
 * NULL if nothing. */
const json_t *model_side(const struct report_point *p, const struct layout_flow *flow, const char *what,
			 const char *side);

/* An integer of the summary ("p50", "max"); false where it is null or missing. */
bool model_metric(const struct report_series *s, const char *key, int64_t *value);

/*
 * Nearest rank over a merged histogram, exact where its width is 1; false with fewer than `beyond`
 * samples on the quantile's outer side.
 */
bool model_quantile(const struct report_series *s, double p, uint64_t beyond, int64_t *value);

#endif
