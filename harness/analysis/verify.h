/*
 * Is a run directory what it says? Beyond its manifest: every JSON file is of its schema, every column can be read and
 * has the entries it should, and everything that was derived from the columns comes out the same again.
 */
#ifndef KBLAT_ANALYSIS_VERIFY_H
#define KBLAT_ANALYSIS_VERIFY_H

#include <stddef.h>

#include "rundir/reader.h"

struct verified {
	size_t files, points;
};

/*
 * Check an open run. Each thing that is wrong is told by `complain`, with the file it is in; the count of them is
 * returned, or a negative errno where the check itself failed.
 */
int run_verify(const struct run *run, void (*complain)(void *arg, const char *text), void *arg, struct verified *out,
	       struct err *e);

#endif
