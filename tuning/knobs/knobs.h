/*
 * All knobs: one table, one row each.
 */
#ifndef KBLAT_TUNING_KNOBS_H
#define KBLAT_TUNING_KNOBS_H

#include "common/cli.h"
#include "tuning/knobs/knob.h"

extern const struct knob knobs[]; /* ends with a key of NULL */

/* The knob of a key; one without a key if there is none. */
const struct knob *knob_find(const char *key);

/* The keys of all knobs, NULL-terminated. A profile may contain these. */
const char *const *knobs_keys(void);

/* profile_load(), without the settings of these keys (NULL: with all). If it has errors, those that planning it for the machine
 * finds are among them. */
int knobs_load(struct machine *m, const char *name, const struct cli_list *without, struct profile *profile,
	       struct err *e);

/*
 * Make the plan of `profile` for the machine `m`. 0; -EINVAL if the profile has errors (profile_print_faults); another
 * negative errno and `e` if it cannot be applied to this machine. Call plan_free in any case.
 */
int knobs_plan(struct machine *m, struct profile *profile, struct plan *plan, struct err *e);

#endif
