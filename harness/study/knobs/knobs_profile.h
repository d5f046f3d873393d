/*
 * Splits a profile of kbtune into its knobs, and writes profiles with some of them. The knobs, and what each would
 * change on this machine, come from kbtune's plan; nothing is changed.
 */
#ifndef KBLAT_KNOBS_PROFILE_H
#define KBLAT_KNOBS_PROFILE_H

#include "study/knobs/knobs_types.h"

struct err;

/*
 * Find the knobs of `profile`, in its order. A negative errno and `e` if kbtune rejects the profile (with its status), if
 * no knob changes anything on this machine (STATUS_IMPOSSIBLE), or if there are fewer than two knobs to distinguish
 * (STATUS_USAGE).
 */
int profile_knobs(const char *profile, struct knobs *k, struct err *e);

/*
 * Write `folder`/profile.yaml with those of the knobs that `has` has, and the files that they need to the same folder.
 * `title`: one line; `comment`: NULL, or lines for its beginning.
 */
int profile_write(const char *folder, const char *title, const char *comment, const struct knobs *k, const bool *has,
		  struct err *e);

#endif
