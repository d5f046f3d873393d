/*
 * A file made by somebody else, mapped for reading. Reading such a mapping raises SIGBUS if the file has been shortened
 * meanwhile, or if its disk fails. This must not end the program: what is missing is replaced by zeros, and closing the
 * mapping reports it. So whatever was computed from a mapping counts only if closing it succeeds, and code that reads
 * it must bear that values change between two looks.
 *
 * Mappings are opened and closed by one thread at a time, while no other thread reads one; any number of threads may
 * read. The first one installs a handler for SIGBUS, which passes on what does not concern a mapping.
 */
#ifndef KBLAT_COMMON_MAPPED_H
#define KBLAT_COMMON_MAPPED_H

#include <stddef.h>

struct err;
struct mapped;

/* Map a whole regular file, following no links. STATUS_USAGE if it is not one, or is empty. */
int mapped_open(const char *path, struct mapped **out, struct err *e);

const void *mapped_data(const struct mapped *m);
size_t mapped_size(const struct mapped *m);

/* Release it; NULL is fine. -EIO if a part of it could not be read since it was opened. */
int mapped_close(struct mapped *m, struct err *e);

#endif
