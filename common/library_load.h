/*
 * Libraries that a program loads when it needs them: with some come a dozen others, or megabytes to relocate, which every
 * process would have to load and lock in memory otherwise.
 *
 * Who loads one lists the functions it uses, and declares a structure of pointers to them:
 *
 *   #define NN_FUNCTIONS(X) X(nn, send) X(nn, recv)
 *   extern struct nn_functions { NN_FUNCTIONS(LOADED_FIELD) } nn;
 *
 * so that `nn.send(…)` calls nn_send(), with the types that the library's header gives it.
 */
#ifndef KBLAT_LIBRARY_LOAD_H
#define KBLAT_LIBRARY_LOAD_H

#include "common/err.h"

#define LOADED_FIELD(prefix, name) __typeof__(&prefix##_##name) name;
#define LOADED_NAME(prefix, name)  #prefix "_" #name,

/* Loads `file` and fills the structure `functions` in the order of `names`, by LOADED_NAME, which NULL ends. Returns 0, or
 * a negative errno: what cannot be loaded is not possible on this machine (STATUS_IMPOSSIBLE), which says the packages. */
int library_load(const char *file, const char *debian, const char *fedora, const char *const *names, void *functions,
		 struct err *e);

#endif
