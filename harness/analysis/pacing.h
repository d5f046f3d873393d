/*
 * How a pacer kept its rate: of the steps that were due, those that it missed and those that were
 * not sent, and the rate that came of it. Of kernels with a column t_due.
 *
 * {"asked_hz", "achieved_hz", "steps", "missed", "missed_share", "unsent", "unsent_share"}: shares
 * of the steps; the rate from the first sample's submission to the last's, null with fewer than
 * two. A repetition without counters (its run was killed) is left out of all but the rate.
 */
#ifndef KBLAT_ANALYSIS_PACING_H
#define KBLAT_ANALYSIS_PACING_H

#include "analysis/blocks.h"

extern const struct block pacing_block;

#endif
