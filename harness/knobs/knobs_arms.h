/*
 * What is measured beside what: the arms (none, whole, each knob alone, each left out), and the pairs of
 * them that are compared. A knob that is nothing without the shields is "alone" upon them; the shields
 * are left out together with such knobs. Arms that come to the same here are measured once.
 */
#ifndef KBLAT_KNOBS_ARMS_H
#define KBLAT_KNOBS_ARMS_H

#include "knobs/knobs_record.h"

#define KNOBS_NONE	"none"
#define KNOBS_WHOLE	"whole"
#define KNOBS_CANDIDATE "smallest-" /* and a number: a candidate for the smallest profile, not an arm of a block */

/* Arms and comparisons of the knobs, into knobs.json. */
void arms_make(struct knobs *k);

/* Write the profile of an arm, which has one. */
int arms_write_profile(const struct knobs *k, const json_t *arm, struct err *e);

/* Of all arms. */
int arms_write_profiles(const struct knobs *k, struct err *e);

#endif
