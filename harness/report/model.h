/*
 * What a report shows, read from run directories by gather.h: every point of every run with its
 * settings, summary and merged histograms, and the settings that distinguish points. Figures and
 * pages are made from this alone.
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
	const struct layout_flow *flow; /* the flow that it belongs to */
	const char *name;		/* "lat_ns": in data.json */
	char *key;			/* in the summary's metrics: "lat_ns", or for a flow "small.lat_ns" */
	char *label;			/* "t_lat", "small t_lat" */
	bool leads;			/* it is the first of its flow, and represents it in figures with one series */
	struct histogram histogram;	/* of all repetitions; bins 0: nothing was measured */
	uint64_t count;			/* number of samples in the histogram */
	const json_t *metric;		/* from the summary; NULL if there is none */
};

struct report_point {
	size_t run; /* index */
	unsigned id;
	const json_t *params;
	struct layout layout;	      /* its flows */
	const json_t *summary;	      /* NULL if there is none */
	json_t *outcome;	      /* point.json; NULL if the point was never begun */
	struct report_series *series; /* flow by flow; only those with recorded or lost messages */
	size_t series_count;
	char *label; /* the values of settings that vary: "rc, busy, size 32B" */
	char *name;  /* name of its files: "point-0003", "run-2-point-0003" */
};

/* A series of a point. */
struct report_item {
	const struct report_point *point;
	const struct report_series *series;
};

struct report_run {
	const struct run *run;
	json_t *summary; /* the run's; computed if it has none yet; NULL if that was not possible */
	char *label;	 /* distinguishes runs: the host if that is sufficient, otherwise the directory's name */
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
	struct report_item *leading; /* for each point and flow that was measured */
	size_t leading_count;
	struct report_keys varying;	     /* among points: "size_bytes", "small.size_bytes" */
	const struct claim_verdicts *claims; /* of the runs; NULL: unknown */
	struct report_keys in_flows;	     /* among flows: "size_bytes" */
};

void model_free(struct report *r);
void model_free_series(struct report_series *s);

/* Does any point have flows with names? */
bool model_has_flows(const struct report *r);

/* Was anything measured in a series? */
bool model_is_measured(const struct report_series *s);

/* May a point's numbers be quoted? And the first reason why not ("" if there is none). */
bool model_is_valid(const struct report_point *p);
const char *model_reason(const struct report_point *p);
const char *model_outcome(const struct report_point *p); /* "completed", ..., "not measured" */

/* What point.json contains about one side of a flow: "granted" or "placement" (`what`) of the
 * "source" or "sink" (`side`). NULL if there is nothing. */
const json_t *model_side(const struct report_point *p, const struct layout_flow *flow, const char *what,
			 const char *side);

/* An integer from the summary ("p50", "max"); false if it is null or missing. */
bool model_metric(const struct report_series *s, const char *key, int64_t *value);

/*
 * The nearest-rank quantile of a merged histogram, exact if its width is 1; false with fewer than
 * `beyond` samples on the quantile's outer side.
 */
bool model_quantile(const struct report_series *s, double p, uint64_t beyond, int64_t *value);

#endif
