/*
 * A library that only one transport needs is loaded when that transport is opened: with it come a dozen others, which
 * every endpoint would have to load, relocate and lock in memory otherwise.
 *
 * A transport lists the functions it uses, and declares a structure of pointers to them:
 *
 *   #define NN_FUNCTIONS(X) X(nn, send) X(nn, recv)
 *   extern struct nn_functions { NN_FUNCTIONS(LOADED_FIELD) } nn;
 *
 * so that `nn.send(…)` calls nn_send(), with the types that the library's header gives it.
 */
#ifndef KBLAT_TRANSPORTS_LOADED_LIBRARY_H
#define KBLAT_TRANSPORTS_LOADED_LIBRARY_H

#include <stddef.h>

#include "common/err.h"

#define LOADED_FIELD(prefix, name) __typeof__(&prefix##_##name) name;
#define LOADED_NAME(prefix, name)  #prefix "_" #name,

/* Loads the library of a transport (EVERY_LOADED_LIBRARY), once, and fills the structure `functions` in the order of
 * `names`, by LOADED_NAME, which NULL ends. Returns 0, or a negative errno: what cannot be loaded is not possible on this
 * machine (STATUS_IMPOSSIBLE). */
int loaded_library_open(const char *transport, const char *const *names, void *functions, struct err *e);

#endif
