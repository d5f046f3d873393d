/*
 * The arms to be measured (none, the whole profile, each knob alone, each knob left out), and the
 * pairs of arms that are compared. A knob that has no effect without the shields is "alone" in
 * addition to them, and leaving out the shields leaves out such knobs, too. Arms that amount to the
 * same on this machine are measured once.
 */
#ifndef KBLAT_KNOBS_ARMS_H
#define KBLAT_KNOBS_ARMS_H

#include "knobs/knobs_record.h"

#define KNOBS_NONE  "none"
#define KNOBS_WHOLE "whole"

/* Followed by a number: a candidate for the smallest profile, which is not an arm of a block. */
#define KNOBS_CANDIDATE "smallest-"

/* Write the arms and comparisons of the knobs to knobs.json. */
void arms_make(struct knobs *k);

/* Write the profile of an arm; the arm must have one. */
int arms_write_profile(const struct knobs *k, const json_t *arm, struct err *e);

/* Write the profiles of all arms. */
int arms_write_profiles(const struct knobs *k, struct err *e);

#endif
