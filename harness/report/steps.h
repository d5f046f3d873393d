/*
 * The steps of a paced point that came to nothing, as figures show them: of those that were due, the share that the pacer
 * missed (it woke too late) and the share that it kept but could not send (analysis/pacing.h).
 */
#ifndef KBLAT_REPORT_STEPS_H
#define KBLAT_REPORT_STEPS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/model.h"

struct steps {
	int64_t due;
	double missed_share, unsent_share; /* of those; 0 to 1 */
};

/* False: the point has no pacer, or no step was due; `s` is zero then. */
bool point_steps(const struct report_point *p, struct steps *s);

/* "\tmissed_share\tunsent_share" of a table's heading, and of a row: two empty cells where point_steps() says false. */
#define STEPS_HEADING "\tmissed_share\tunsent_share"
void steps_cells(FILE *table, const struct report_point *p);

#endif
