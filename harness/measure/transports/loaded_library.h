/*
 * A library that only one transport needs is loaded when that transport is opened (common/library_load.h).
 */
#ifndef KBLAT_TRANSPORTS_LOADED_LIBRARY_H
#define KBLAT_TRANSPORTS_LOADED_LIBRARY_H

#include "common/library_load.h"

/* Loads the library of a transport (EVERY_LOADED_LIBRARY), once, and fills the structure `functions` in the order of
 * `names`, by LOADED_NAME, which NULL ends. Returns 0, or a negative errno: what cannot be loaded is not possible on this
 * machine (STATUS_IMPOSSIBLE). */
int loaded_library_open(const char *transport, const char *const *names, void *functions, struct err *e);

#endif
