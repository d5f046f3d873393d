/*
 * A point of several runs, or a flow of it. Each quantity of its metric has one value per unit: the
 * mean over the unit's runs of the run's value for all messages (from summary.json; raw columns are
 * never read). For latencies it is the logarithm, so that a difference is a ratio; for shares and
 * values that are not positive, it is the number itself.
 */
#ifndef KBLAT_COMPARE_POINT_H
#define KBLAT_COMPARE_POINT_H

#include <stdbool.h>
#include <stddef.h>

#include "judge/analysis/blocks.h"
#include "judge/compare/compare_runs.h"

struct err;
struct summary_point;

#define COMPARE_MARGIN 0.02 /* of a quantity without one of its own */

/* --- quantities --- */

/*
 * The quantities of a metric that are compared: for a series, the statistics that have a weight
 * (judge/analysis/statistics.h); for a summary block, those of which more or less is worse
 * (judge/analysis/blocks.h). A metric is the name of a series or block, preceded by the flow's name if it
 * has one: "lat_ns", "small.lat_ns", "pacing", "small.pacing".
 */
struct compare_quantity {
	const char *key, *label; /* in summary.json; for people */
	enum measure measure;
	double weight; /* of its statistic in the joint test (docs/compare.md) */
	bool less_is_worse;
	double margin, margin_own; /* as in struct statistic */
	double beyond;		   /* the share of a run's messages that lie beyond it; 0: it is no quantile */
};

/* The block that a metric names, or NULL if it is a series, or a block without quantities that can
 * be compared. `metric` may be NULL. */
const struct block *compare_quantity_block(const char *metric);

/* All quantities of a metric, or of any series if `metric` is NULL; at least one. The caller frees. */
struct compare_quantity *compare_quantity_list(const char *metric, size_t *count);

/* The names as a user writes them, with `last` before the last one: "p50, p90, p99, p99.9 or
 * over_limit" if it is " or ". The caller frees. */
char *compare_quantity_names(const char *metric, const char *last);

/* Find the key for a user's "p99_9" or "p99.9". If there is none: STATUS_USAGE, with a message that
 * names `flag` and the existing quantities. */
int compare_quantity_find(const char *flag, const char *metric, const char *name, const char **key, struct err *e);

/* Split "pacing.missed_share" into the block "pacing", which is returned and which the caller
 * frees, and its quantity "missed_share", which points into `metric`. NULL for all other metrics. */
char *compare_quantity_split(const char *metric, const char **quantity);

/* "p99.9" for "p99_9". */
const char *compare_quantity_label(const char *key);

/* Two significant digits, but all digits before the decimal point: "1.4", "3830". */
const char *compare_quantity_rounded(double value, char *text, size_t size);

/* "ns" for a quantile of a series, "share"; "" for a count. */
const char *compare_quantity_unit(const struct compare_quantity *q, const char *metric);

/* --- points --- */

struct compare_values {
	struct compare_quantity of;
	bool logarithms;
	double *value; /* one per unit, NaN: it has none; NULL: the quantity is not compared */
	/* mean over the units, in the quantity's own unit (for logarithms, the geometric mean) */
	double level[ARMS];
	double messages;      /* of the run with the fewest */
	double counted[ARMS]; /* messages of all runs */
	const char *why;      /* why it is not compared; otherwise NULL */
	double stdev_units;   /* between units of an arm, on the scale of `value`; NaN: not known */
	double stdev_runs;    /* between runs of a unit, likewise */
};

struct compare_point {
	/* of the first run that has the point, with defaults for settings that did not exist then */
	const json_t *params;
	json_int_t id; /* likewise */
	char *flow;    /* which of the point's flows; "": it has none */
	/* "lat_ns", "small.lat_ns"; or a block, "pacing". NULL: nothing was measured */
	char *metric;
	const struct summary_point **of_run; /* the point in each run's summary, or NULL */
	size_t left_out[ARMS];		     /* number of runs in which the point is missing or not valid */
	json_t *reasons;		     /* why they were left out, each reason once */
	struct compare_values *quantity;     /* as in compare_quantity_list() */
	size_t quantity_count;
};

/* Does the point have this metric in any run? */
bool compare_point_has(const struct compare_point *p, const struct compare_runs *runs, const char *metric);

/* Find the metric, if none is set, and fill in the values of its quantities: those whose keys are
 * given, or all if there are none. STATUS_USAGE if a run that counts does not have the metric. */
int compare_point_fill(struct compare_point *p, const struct compare_runs *runs, const char *const *keys, size_t count,
		       struct err *e);

/* The value of a quantity in one run; NaN: none that counts. */
double compare_point_number(const struct compare_point *p, size_t run, const struct compare_values *v);

void compare_point_free(struct compare_point *p);

/* Is `name` one of `names`? */
bool compare_is_among(const char *name, const char *const *names, size_t count);

/* Convert a difference of values to a share of the level, and to the quantity's own unit. */
double compare_share(const struct compare_values *v, double difference);
double compare_amount(const struct compare_values *v, double difference);

#endif
