/*
 * All knobs: one table, one row each.
 */
#ifndef KBLAT_TUNING_KNOBS_H
#define KBLAT_TUNING_KNOBS_H

#include "tuning/knobs/knob.h"

extern const struct knob knobs[]; /* ends with a key of NULL */

/* The keys of all knobs, NULL-terminated: what a profile may have. */
const char *const *knobs_keys(void);

/*
 * What `profile` means on `m`. 0; -EINVAL where the profile has faults (profile_print_faults);
 * another negative errno and `e` where it cannot be applied to this machine. plan_free in any case.
 */
int knobs_plan(struct machine *m, struct profile *profile, struct plan *plan, struct err *e);

#endif
