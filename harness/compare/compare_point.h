/*
 * A point of several runs, or a flow of it: for each quantity of its metric one value a unit, the
 * mean over the unit's runs of what each run says of all its messages (summary.json; raw columns
 * are never read). Of latencies the logarithm, so that a difference is a ratio; of shares, and of
 * what is not positive, the number itself.
 */
#ifndef KBLAT_COMPARE_POINT_H
#define KBLAT_COMPARE_POINT_H

#include "compare/compare_quantity.h"
#include "compare/compare_runs.h"

struct compare_values {
	struct compare_quantity of;
	bool logarithms;
	double *value; /* one a unit, NaN: it has none; NULL: the quantity is not compared */
	/* mean over the units, in the quantity's own unit (of logarithms: the geometric) */
	double level[ARMS];
	double messages;    /* of the run with the fewest */
	const char *why;    /* it is not compared */
	double stdev_units; /* within an arm, on the scale of `value`; NaN: not known */
	double stdev_runs;  /* within a unit, likewise */
};

struct compare_point {
	/* of the first run that has it, and the defaults of settings that it had not yet */
	const json_t *params;
	json_int_t id; /* likewise */
	char *flow;    /* which of its flows; "": it has none */
	/* "lat_ns", "small.lat_ns"; or a block, "pacing". NULL: nothing was measured */
	char *metric;
	const json_t **of_run;		 /* the point in each run's summary, or NULL */
	size_t left_out[ARMS];		 /* runs whose point is not valid or missing */
	json_t *reasons;		 /* why, each once */
	struct compare_values *quantity; /* of compare_quantity_list() */
	size_t quantity_count;
};

/* Does it have this metric, in any run? */
bool compare_point_has(const struct compare_point *p, const struct compare_runs *runs, const char *metric);

/* Find the metric, where none is set, and the values of its quantities: those with one of these
 * keys (none: all). STATUS_USAGE where a run that counts lacks the metric. */
int compare_point_fill(struct compare_point *p, const struct compare_runs *runs, const char *const *keys, size_t count,
		       struct err *e);

/* What one run says of a quantity; NaN: nothing that counts. */
double compare_point_number(const struct compare_point *p, size_t run, const struct compare_values *v);

void compare_point_free(struct compare_point *p);

/* Is a name one of these? */
bool compare_is_among(const char *name, const char *const *names, size_t count);

/* What a difference of values means: a share of the level, and the quantity's own unit. */
double compare_share(const struct compare_values *v, double difference);
double compare_amount(const struct compare_values *v, double difference);

/* [{"quantity", "why"}] of those that have a reason not to be compared: a new reference. */
json_t *compare_point_not_compared(const struct compare_point *p);

#endif
