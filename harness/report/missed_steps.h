/*
 * The steps of a paced flow that failed, as shown in figures: of the steps that were due, the share
 * that the pacer missed (because it woke up too late), the share that was on time but could not be
 * sent (judge/analysis/blocks.h), and the share that was sent but never received.
 */
#ifndef KBLAT_REPORT_MISSED_STEPS_H
#define KBLAT_REPORT_MISSED_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/table.h"
#include "report/model.h"

struct missed_steps {
	int64_t due;
	double missed_share, unsent_share, lost_share; /* of the steps that were due; 0 to 1 */
	double not_transmitted_share;		       /* lost, as a share of the steps that were sent */
};

/* False: the flow has no pacer, or no step was due; then `s` is set to zero. */
bool missed_steps_of(const struct report_point *p, const struct layout_flow *flow, struct missed_steps *s);

/* The share of steps without a sample at the source, and the share without one at the sink. */
double missed_steps_in(const struct missed_steps *s);
double missed_steps_out(const struct missed_steps *s);

/* Two columns of a table, and their cells in a row: empty if missed_steps_of() returns false. */
#define MISSED_STEPS_COLUMNS                                                                                           \
	{.key = "missed_share"},                                                                                       \
	{                                                                                                              \
		.key = "unsent_share"                                                                                  \
	}
void missed_steps_put(struct table *t, size_t column, size_t row, const struct report_item *item);

#endif
