/*
 * Files that change each other: a value that is written to one of them changes others, or they limit each other. Whoever
 * changes one has to look at the others, before and after, and to put them back with it.
 */
#ifndef KBLAT_TUNING_FAMILIES_H
#define KBLAT_TUNING_FAMILIES_H

#include <stdbool.h>
#include <stddef.h>

struct machine;

/* The files on this machine that may change when `path` is written, each once, without itself; NULL-terminated. The count;
 * free with sysroot_names_free. */
size_t families_beside(const struct machine *m, const char *path, char ***paths);

/* Is `other` one of two that exclude each other, as bytes and a ratio do: writing one sets the other to 0, and 0 itself may
 * not be written? */
bool families_exclude(const char *path, const char *other);

#endif
