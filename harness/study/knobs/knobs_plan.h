/*
 * The plan of a study of knobs: checks the spec and the profile, and determines the arms, the expected duration, and how
 * much of it fits in a budget.
 */
#ifndef KBLAT_KNOBS_PLAN_H
#define KBLAT_KNOBS_PLAN_H

#include "study/knobs/knobs_types.h"

/* A struct study_kind's plan(). STATUS_USAGE if there are errors (those in the spec are printed), or if the budget is too
 * small for one block. */
enum status knobs_plan_make(struct study *s, const struct study_request *r, struct err *e);

/* What --dry-run prints. */
void knobs_plan_show(const struct study *s, const struct study_request *r);

/* The ID of this boot of the machine; "" if it is not known. */
const char *knobs_boot_id(char *buf, size_t size);

/*
 * The arms to be measured (none, the whole profile, each knob alone, each knob left out), and the pairs of arms that are
 * compared. A knob that has no effect without the shields is "alone" in addition to them, and leaving out the shields
 * leaves out such knobs, too. Arms that amount to the same on this machine are measured once.
 */
/* Add the arms and pairs of the knobs. */
void arms_make(struct knobs *k);

/* Write the profile of an arm, if it has one; of all arms. */
int arms_write_profile(const struct study *s, const struct knobs_arm *arm, struct err *e);
int arms_write_profiles(const struct study *s, struct err *e);

#endif
