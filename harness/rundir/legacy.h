/*
 * Supplies "traits" and "bookkeeping" for old runs whose resolved.json does not contain them. Nothing else here may
 * depend on the names of transports or settings.
 */
#ifndef KBLAT_RUNDIR_LEGACY_H
#define KBLAT_RUNDIR_LEGACY_H

#include <stdbool.h>

#include "rundir/layout.h"

/* The traits of a point with these settings. For an unknown transport, the strictest rules apply. */
struct layout_traits legacy_traits(const json_t *params);

/* Does this setting determine how long to measure rather than what? */
bool legacy_is_bookkeeping(const char *key);

#endif
