/*
 * Makes a bundle of runs and studies: collects the files, judges all claims together, writes ARTIFACT.md and
 * bundle.json.
 */
#ifndef KBLAT_STUDY_BUNDLE_PACK_H
#define KBLAT_STUDY_BUNDLE_PACK_H

#include <stdbool.h>
#include <stddef.h>

struct err;

struct bundle_request {
	const char *const *paths; /* run directories, directories of studies */
	size_t count;
	const char *out; /* the bundle's file; ends in .tar.gz */
	const char *key; /* to sign with; NULL: it is not signed */
	bool without_columns, without_states, mask, replace;
};

/* Every run must be sealed and unchanged. Prints a line about what is in the bundle. 0 or a negative errno and `e`. */
int bundle_pack(const struct bundle_request *r, struct err *e);

#endif
