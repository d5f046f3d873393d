/*
 * Points of several runs joined by their settings, and for each quantity of a point one value a
 * unit: the mean over the unit's runs of what each run says of all its messages (summary.json; raw
 * columns are never read). Of latencies the logarithm, so that a difference is a ratio; of the
 * share over the limit, and of what is not positive, the number itself.
 */
#ifndef KBLAT_COMPARE_JOIN_H
#define KBLAT_COMPARE_JOIN_H

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
	const json_t *params; /* of the first run that has it */
	json_int_t id;	      /* likewise */
	char *flow;	      /* which of its flows; "": it has none */
	/* "lat_ns", "small.lat_ns"; or a block, "pacing". NULL: nothing was measured */
	char *metric;
	const json_t **of_run;		 /* the point in each run's summary, or NULL */
	size_t left_out[ARMS];		 /* runs whose point is not valid or missing */
	json_t *reasons;		 /* why, each once */
	struct compare_values *quantity; /* of compare_quantity_list() */
	size_t quantity_count;
};

struct compare_join {
	const struct compare_runs *runs;
	struct compare_point *point;
	size_t count;
	json_t *notes; /* points that only one arm has */
};

struct compare_choice {
	/* NULL: the first of each point, or of each of its flows */
	const char *metric;
	const char *const *ignore; /* settings that need not agree */
	size_t ignore_count;
	const char *const *quantity; /* keys of those to compare; none: all */
	size_t quantity_count;
};

/* With runs in units; a point with flows becomes one for each flow that has the metric.
 * STATUS_USAGE if the arms have no point in common, or measure it in different units. Without a
 * second arm, the points of the base. */
int compare_join(struct compare_join *j, const struct compare_runs *runs, const struct compare_choice *choice,
		 struct err *e);
void compare_join_free(struct compare_join *j);

/* What a difference of values means: a share of the level, and the quantity's own unit. */
double compare_share(const struct compare_values *v, double difference);
double compare_amount(const struct compare_values *v, double difference);

#endif
