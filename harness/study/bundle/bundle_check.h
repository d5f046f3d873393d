/*
 * What an unpacked bundle says of itself, compared with what is in it; what nothing in it tells, by name; and the files
 * that are for people, which are made again instead of being believed.
 */
#ifndef KBLAT_STUDY_BUNDLE_CHECK_H
#define KBLAT_STUDY_BUNDLE_CHECK_H

#include <jansson.h>
#include <stdbool.h>

#include "study/bundle/bundle.h"

struct complaints;
struct err;
struct run;

struct bundle_check {
	const struct bundle *b;
	const char *folder;
	const struct run *run; /* of each run of `b`, in that order */
	bool is_signed;
	struct complaints *differences;
};

/* Was the bundle made by this very kblat? Then it must have every word that this one would write. */
bool bundle_is_of_this(const struct bundle *b);

/* bundle.json, and the record of the study, against the runs. */
void bundle_check_index(const struct bundle_check *c);

/* ARTIFACT.md and claims.tsv, from what is in the bundle and from verdicts made again; the pages, if there are some, of those
 * runs for which `is_sound` says so. 0 or a negative errno and `e`. */
int bundle_make_again(const struct bundle_check *c, const struct claim_verdicts *v, const bool *is_sound,
		      struct err *e);

/* [{"files": a pattern as of fnmatch(3), "what": words}] of what is in the bundle, and was not checked: a new reference. */
json_t *bundle_unchecked(const struct bundle *b);

/* The same of what is made again: ["ARTIFACT.md", …] */
json_t *bundle_made_again(const struct bundle *b);

/* Both for people, on several lines without the last line break; the caller frees. `is_vouched_for`: a trusted signature
 * covers what was not checked. */
char *bundle_limits_text(const struct bundle *b, bool is_vouched_for);

#endif
