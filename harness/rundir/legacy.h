/*
 * What runs did not say before their resolved.json had "traits" and "bookkeeping": what held then.
 * Nothing else may know transports or settings by their names.
 */
#ifndef KBLAT_RUNDIR_LEGACY_H
#define KBLAT_RUNDIR_LEGACY_H

#include <stdbool.h>

#include "rundir/layout.h"

/* The traits of a point with these settings. A transport that is not known gets the strictest
 * rules. */
struct layout_traits legacy_traits(const json_t *params);

/* Does this setting say how long to measure, not what? */
bool legacy_is_bookkeeping(const char *key);

#endif
