/*
 * Joins the points of several runs by their settings.
 */
#ifndef KBLAT_COMPARE_JOIN_H
#define KBLAT_COMPARE_JOIN_H

#include "judge/compare/compare_point.h"
#include "judge/compare/compare_runs.h"

struct compare_join {
	const struct compare_runs *runs;
	struct compare_point *point;
	size_t count;
	json_t *notes;	 /* points that only one arm has */
	json_t *varying; /* keys of an object: the settings in which points differ */
};

struct compare_choice {
	/* NULL: the first metric of each point, or of each of its flows */
	const char *metric;
	const char *const *ignore; /* settings that may differ */
	size_t ignore_count;
	const char *const *quantity; /* keys of the quantities to compare; none: all */
	size_t quantity_count;
};

/* `runs` are grouped into units. A point with flows becomes one joined point for each flow that has
 * the metric. If there is no second arm, the points are those of the base. STATUS_USAGE if the arms
 * have no point in common, or measure it in different units. */
int compare_join(struct compare_join *j, const struct compare_runs *runs, const struct compare_choice *choice,
		 struct err *e);
void compare_join_free(struct compare_join *j);

#endif
