/*
 * What is gone when this process has ended, however it ends: by a signal, too, as another process then removes it
 * (common/guard.h). If both are killed at once, `kblat doctor` finds folders by their names.
 */
#ifndef KBLAT_COMMON_TEMPORARY_H
#define KBLAT_COMMON_TEMPORARY_H

#include "common/guard.h"

struct err;

struct temporary {
	char *path; /* NULL: there is none */
	struct guard guard;
};

/* Make a folder for this user alone: <where>/kblat-<uid>-<pid>-<name>XXXXXX; `where` NULL: temporary_place(). */
int temporary_make(struct temporary *t, const char *where, const char *name, struct err *e);

/* The same for the file `path`, which this process makes next: at no time is it there without who removes it. */
int temporary_file(struct temporary *t, const char *path, struct err *e);

/* It was not made. */
void temporary_forget(struct temporary *t);

/* Remove it. */
void temporary_remove(struct temporary *t);

/* $TMPDIR, or /tmp. */
const char *temporary_place(void);

#endif
