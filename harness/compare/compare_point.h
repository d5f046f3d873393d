/*
 * A point of several runs, or a flow of it. Each quantity of its metric has one value per unit: the
 * mean over the unit's runs of the run's value for all messages (from summary.json; raw columns are
 * never read). For latencies it is the logarithm, so that a difference is a ratio; for shares and
 * values that are not positive, it is the number itself.
 */
#ifndef KBLAT_COMPARE_POINT_H
#define KBLAT_COMPARE_POINT_H

#include "compare/compare_quantity.h"
#include "compare/compare_runs.h"

struct compare_values {
	struct compare_quantity of;
	bool logarithms;
	double *value; /* one per unit, NaN: it has none; NULL: the quantity is not compared */
	/* mean over the units, in the quantity's own unit (for logarithms, the geometric mean) */
	double level[ARMS];
	double messages;    /* of the run with the fewest */
	const char *why;    /* why it is not compared; otherwise NULL */
	double stdev_units; /* between units of an arm, on the scale of `value`; NaN: not known */
	double stdev_runs;  /* between runs of a unit, likewise */
};

struct compare_point {
	/* of the first run that has the point, with defaults for settings that did not exist then */
	const json_t *params;
	json_int_t id; /* likewise */
	char *flow;    /* which of the point's flows; "": it has none */
	/* "lat_ns", "small.lat_ns"; or a block, "pacing". NULL: nothing was measured */
	char *metric;
	const json_t **of_run;		 /* the point in each run's summary, or NULL */
	size_t left_out[ARMS];		 /* number of runs in which the point is missing or not valid */
	json_t *reasons;		 /* why they were left out, each reason once */
	struct compare_values *quantity; /* as in compare_quantity_list() */
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

/* [{"quantity", "why"}] for the quantities that are not compared: a new reference. */
json_t *compare_point_not_compared(const struct compare_point *p);

#endif
