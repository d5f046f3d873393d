/*
 * How a pacer kept its rate: of the steps that were due, those that it missed and those that were not sent, and the rate that came of it. Of kernels
 * with a column t_due.
 */
#ifndef KBLAT_ANALYSIS_PACING_H
#define KBLAT_ANALYSIS_PACING_H

#include <jansson.h>

#include "analysis/rep.h"
#include "rundir/layout.h"

/*
 * {"asked_hz", "achieved_hz", "steps", "missed", "missed_share", "unsent", "unsent_share"} of these repetitions together: shares of the steps; the rate
 * from the first sample's submission to the last's, null with fewer than two. A repetition without counters (its run was killed) is left out of all but the rate.
 * New reference; NULL if the kernel has no pacer.
 */
json_t *pacing_json(const struct layout *l, const struct rep *reps, size_t count);

/*
 * {"stored_bytes", "bytes_per_s", "write_bytes_per_s", "waits"} of points whose samples are written to a file: the whole, by the time that passed, and by
 * the time inside write(); samples that waited for it. New reference; NULL for other points.
 */
json_t *storing_json(const struct layout *l, const struct rep *reps, size_t count);

#endif
