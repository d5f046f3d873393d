/*
 * How well a pacer kept its rate: the steps that were due, those of them that it missed, those that
 * were not sent, and the rate achieved. For kernels with a column t_due.
 *
 * {"asked_hz", "achieved_hz", "steps", "missed", "missed_share", "unsent", "unsent_share",
 * "missing", "missing_share", "not_transmitted", "not_transmitted_share"}: shares are relative to
 * the steps, except for the last one. The rate is measured from the first sample's submission to
 * the last one's, and null if there are fewer than two. A repetition without counters (because its
 * run was killed) only contributes to the rate.
 *
 * The last four have the names known from VILLASnode's benchmark. A missing sample was missed or
 * unsent: it has no row in the file of what was sent. A sample that was not transmitted has a row
 * there, but none in the file of what arrived: `loss` calls it lost, and its share is relative to
 * what was sent.
 */
#ifndef KBLAT_ANALYSIS_PACING_H
#define KBLAT_ANALYSIS_PACING_H

#include "analysis/blocks.h"

extern const struct block pacing_block;

#endif
