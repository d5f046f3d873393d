/*
 * The steps of a paced flow that came to nothing, as figures show them: of those that were due,
 * the share that the pacer missed (it woke too late), the share that it kept but could not send
 * (analysis/pacing.h), and the share that was sent and never received.
 */
#ifndef KBLAT_REPORT_MISSED_STEPS_H
#define KBLAT_REPORT_MISSED_STEPS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/model.h"

struct missed_steps {
	int64_t due;
	double missed_share, unsent_share, lost_share; /* of those; 0 to 1 */
	double not_transmitted_share;		       /* lost, of the steps that were sent */
};

/* False: the flow has no pacer, or no step was due; `s` is zero then. */
bool missed_steps_of(const struct report_point *p, const struct layout_flow *flow, struct missed_steps *s);

/* The shares of steps without a sample at the source, and without one at the sink. */
double missed_steps_in(const struct missed_steps *s);
double missed_steps_out(const struct missed_steps *s);

/* "\tmissed_share\tunsent_share" of a table's heading, and of a row: two empty cells where
 * missed_steps_of() says false. */
#define MISSED_STEPS_HEADING "\tmissed_share\tunsent_share"
void missed_steps_cells(FILE *table, const struct report_point *p, const struct layout_flow *flow);

#endif
