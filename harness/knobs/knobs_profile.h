/*
 * A profile of kbtune taken apart into its knobs, and profiles made of some of them. kbtune says which
 * knobs there are and what each would change here (its plan); nothing is changed.
 */
#ifndef KBLAT_KNOBS_PROFILE_H
#define KBLAT_KNOBS_PROFILE_H

#include <jansson.h>
#include <stdbool.h>

struct err;

/*
 * The knobs of `profile`, in its order: [{"id": for names of files, "name": for people, "knob", "setting",
 * "cost", "folder", "shields": what it places goes by the shields, so it is nothing without them,
 * "tested": bool, "why": of one that is not}]. New reference; NULL and `e` where kbtune refuses it
 * (with its status), nothing of it changes anything here (STATUS_IMPOSSIBLE), or there are no two knobs
 * to tell apart (STATUS_USAGE).
 */
json_t *profile_knobs(const char *profile, struct err *e);

/* Is it the knob that makes the shields? */
bool profile_is_shields(const json_t *knob);

/*
 * Write `folder`/profile.yaml with the knobs of these ids (an array; NULL: all), and the files that they
 * need beside it. `title`: one line; `comment`: NULL, or lines for its head.
 */
int profile_write(const char *folder, const char *title, const char *comment, const json_t *knobs, const json_t *ids,
		  struct err *e);

#endif
