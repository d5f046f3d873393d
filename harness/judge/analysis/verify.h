/*
 * Verifies a run directory. Besides the manifest, checks that every JSON file conforms to its
 * schema, that every column can be read and has the right number of entries, and that everything
 * derived from the columns can be reproduced.
 */
#ifndef KBLAT_ANALYSIS_VERIFY_H
#define KBLAT_ANALYSIS_VERIFY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "files/rundir/reader.h"

struct err;

struct verified {
	size_t files, points;
};

/* A file that another module derives from the summary; `run` has the recomputed summary. */
struct verify_more {
	const char *file; /* "claims.json" */
	bool (*applies)(const struct run *run);
	/* makes the expected content: a new reference */
	json_t *(*make)(const struct run *run, struct err *e);
	const char *complaint; /* to be reported if the content differs */
};

/*
 * Check an open run; `more` (may be NULL) ends with a `file` of NULL. Each error is passed to
 * `tell`, with the name of its file. Returns the number of errors, or a negative errno if the check
 * itself failed.
 */
int verify_run(const struct run *run, const struct verify_more *more, void (*tell)(void *arg, const char *text),
	       void *arg, struct verified *out, struct err *e);

/* The same, and of a run that this very kblat made also every word. Without `has_columns` the numbers of summary.json are
 * believed, and what follows from them is checked. */
int verify_strictly(const struct run *run, const struct verify_more *more, bool has_columns,
		    void (*tell)(void *arg, const char *text), void *arg, struct verified *out, struct err *e);

/* Was something made by this very kblat, which would write the same sentences, and leave out no number? */
bool verify_is_of_this(const char *version, const char *commit);

/* Are a derived file and what is computed anew equal? Sentences are for people, so later versions may
 * word them differently, but the numbers in them are data: words ("why", "reasons", "warnings",
 * "label", "measured") only need to have the same numbers in the same order. */
bool data_equal(const json_t *a, const json_t *b);

#endif
