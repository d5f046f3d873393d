/*
 * What a report shows: every point of every run with its settings, summary and merged histograms,
 * and the settings that distinguish points. Figures and pages are made from this alone.
 */
#ifndef KBLAT_REPORT_MODEL_TYPES_H
#define KBLAT_REPORT_MODEL_TYPES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "files/rundir/layout.h"
#include "files/rundir/reader.h"
#include "judge/analysis/histogram.h"
#include "judge/analysis/summary.h"

struct claim_verdicts;

struct report_series {
	const struct layout_flow *flow; /* the flow that it belongs to */
	const char *name;		/* "lat_ns": in data.json */
	char *key;			/* in the summary's metrics: "lat_ns", or for a flow "small.lat_ns" */
	char *label;			/* "t_lat", "small t_lat" */
	bool leads;			/* it is the first of its flow, and represents it in figures with one series */
	struct histogram histogram;	/* of all repetitions; bins 0: nothing was measured */
	uint64_t count;			/* number of samples in the histogram */
	const struct summary_metric *metric; /* NULL if there is none */
};

struct report_point {
	size_t run; /* index */
	unsigned id;
	const json_t *params;
	struct layout layout;		     /* its flows */
	const struct summary_point *summary; /* NULL if there is none */
	json_t *outcome;		     /* point.json; NULL if the point was never begun */
	struct report_series *series;	     /* flow by flow; only those with recorded or lost messages */
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
	const struct run_record *record;
	struct summary *summary; /* computed if it has none yet; NULL if that was not possible */
	/* Distinguishes runs: the experiment's name or the host if that is sufficient, otherwise the directory's name. */
	char *label;
	char *hosts; /* "a and b" */
	json_t *
	    varying; /* an object whose keys are the settings that tell its points apart, and its kernels and transports */
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
	bool of_experiments; /* several runs, each of another experiment, by whose names they are called */
};

#endif
