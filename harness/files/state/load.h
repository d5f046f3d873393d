/*
 * Reads and checks captured states, which come from a disk, and perhaps from another machine.
 */
#ifndef KBLAT_STATE_LOAD_H
#define KBLAT_STATE_LOAD_H

#include <jansson.h>

struct err;

#define STATE_SCHEMA 1

/*
 * The state document {"schema", "cost_ns", "keys": {key: string or integer}} of
 *
 *   - a state.json file,
 *   - a capture (`kblat state capture DIR`),
 *   - a host's folder in a run directory (RUN/state/HOST): its capture before the run,
 *   - a run directory with one host.
 *
 * A new reference, or NULL and `e` (STATUS_USAGE: it is none of these, or not of this schema).
 */
json_t *state_load(const char *path, struct err *e);

/* Is it such a document? 0 or -EINVAL; `name` is used in the message. */
int state_check(const json_t *state, const char *name, struct err *e);

#endif
