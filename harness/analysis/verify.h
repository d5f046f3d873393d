/*
 * Is a run directory what it says? Beyond its manifest: every JSON file is of its schema, every
 * column can be read and has the entries it should, and everything that was derived from the
 * columns comes out the same again.
 */
#ifndef KBLAT_ANALYSIS_VERIFY_H
#define KBLAT_ANALYSIS_VERIFY_H

#include <stdbool.h>
#include <stddef.h>

#include "rundir/reader.h"

struct err;

struct verified {
	size_t files, points;
};

/* A file that something else derived from the summary; `run` has the summary that was computed
 * again. */
struct verify_more {
	const char *file; /* "claims.json" */
	bool (*applies)(const struct run *run);
	/* what it must say: a new reference */
	json_t *(*make)(const struct run *run, struct err *e);
	const char *complaint; /* where it says something else */
};

/*
 * Check an open run; `more` (may be NULL) ends with a file of NULL. Each thing that is wrong is
 * told by `tell`, with the file it is in; the count of them is returned, or a negative errno where
 * the check itself failed.
 */
int verify_run(const struct run *run, const struct verify_more *more, void (*tell)(void *arg, const char *text),
	       void *arg, struct verified *out, struct err *e);

#endif
