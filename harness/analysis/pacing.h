/*
 * How a pacer kept its rate: of the steps that were due, those that it missed and those that were
 * not sent, and the rate that came of it. Of kernels with a column t_due.
 *
 * {"asked_hz", "achieved_hz", "steps", "missed", "missed_share", "unsent", "unsent_share",
 * "missing", "missing_share", "not_transmitted", "not_transmitted_share"}: shares of the steps, but
 * for the last; the rate from the first sample's submission to the last's, null with fewer than
 * two. A repetition without counters (its run was killed) is left out of all but the rate.
 *
 * The last four have the names that are known from VILLASnode's benchmark: what is missing is
 * missed or unsent, as it has no row in the file of what was sent; what was not transmitted has
 * one, and none in the file of what arrived: it is what `loss` calls lost, by what was sent.
 */
#ifndef KBLAT_ANALYSIS_PACING_H
#define KBLAT_ANALYSIS_PACING_H

#include "analysis/blocks.h"

extern const struct block pacing_block;

#endif
