/*
 * Splits a profile of kbtune into its knobs, and writes profiles with some of them. The knobs, and
 * what each would change on this machine, come from kbtune's plan; nothing is changed.
 */
#ifndef KBLAT_KNOBS_PROFILE_H
#define KBLAT_KNOBS_PROFILE_H

#include <jansson.h>
#include <stdbool.h>

struct err;

/*
 * The knobs of `profile`, in its order: [{"id": for names of files, "name": for people, "knob",
 * "setting", "cost", "folder", "shields": bool, it depends on the shields and has no effect without
 * them, "tested": bool, "why": reason if it is not tested}]. New reference. NULL and `e` if kbtune
 * rejects the profile (with its status), if no knob changes anything on this machine
 * (STATUS_IMPOSSIBLE), or if there are fewer than two knobs to distinguish (STATUS_USAGE).
 */
json_t *profile_knobs(const char *profile, struct err *e);

/* Does this knob create the shields? */
bool profile_is_shields(const json_t *knob);

/*
 * Write `folder`/profile.yaml with the knobs in `ids` (an array; NULL: all), and the files that
 * they need to the same folder. `title`: one line; `comment`: NULL, or lines for its beginning.
 */
int profile_write(const char *folder, const char *title, const char *comment, const json_t *knobs, const json_t *ids,
		  struct err *e);

#endif
