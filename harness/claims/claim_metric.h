/*
 * The number of a point that a claim is about: "lat_ns.p50" is the statistic p50 of the metric lat_ns,
 * "small.pacing.missed_share" the share of missed steps of the flow small. analysis/statistics.def and
 * analysis/blocks.c list the statistics of metrics. Pure.
 */
#ifndef KBLAT_CLAIMS_CLAIM_METRIC_H
#define KBLAT_CLAIMS_CLAIM_METRIC_H

#include <stdbool.h>

#include "analysis/statistics.h"
#include "common/units.h"

struct claim_metric {
	char *text;	 /* as written; split at its last dot into */
	char *of;	 /* a series or a block, with its flow's name in front, "small.lat_ns", */
	char *statistic; /* and "p50" */
	char *flow;	 /* "small"; "": of a point without flows */
};

/* Replaces the previous content; if the text has no dot, `of` and `statistic` are empty. */
void claim_metric_set(struct claim_metric *m, const char *text);
void claim_metric_free(struct claim_metric *m);

/* Its unit, and how the value of all repetitions is computed from that of each. Unknown statistics are treated as
 * quantiles of a series. */
enum measure claim_metric_measure(const struct claim_metric *m);
enum over_reps claim_metric_over_reps(const struct claim_metric *m);

/* The unit of its values, if the name contains one: for lat_ns.p50, but not for lat_ns.n. */
enum unit claim_metric_unit(const struct claim_metric *m);

/* What points can have numbers of; lists end with NULL. */
struct claim_metric_names {
	const char *const *series; /* of all kernels */
	const char *const *flows;  /* of all points; NULL: not known */
	bool only_flows;	   /* no point is without flows */
};

/* Report everything that is wrong with a metric, with one sentence for each error. */
void claim_metric_check(const struct claim_metric *m, const struct claim_metric_names *names,
			void (*complain)(void *arg, const char *text), void *arg);

#endif
