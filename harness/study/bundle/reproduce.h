/*
 * Checks a bundle: that it is whole, who signed it, that its numbers follow from its columns, and that its claims have
 * the verdicts that it says; and measures the same experiments here.
 */
#ifndef KBLAT_STUDY_REPRODUCE_H
#define KBLAT_STUDY_REPRODUCE_H

#include <stdbool.h>

#include "common/err.h"

struct bundle;
struct claim_verdicts;

struct reproduce_request {
	const char *bundle;
	const char *signers; /* a list of signers that are trusted; NULL: there is none */
	const char *out;     /* where the bundle is unpacked and kept; NULL: it is removed afterwards */
	bool require_signature, state, run, json;
	bool quiet; /* the status is all */
};

/* STATUS_OK: all is as the bundle says; STATUS_NO: something differs; STATUS_USAGE and `e`: it is not whole. */
enum status reproduce_bundle(const struct reproduce_request *r, struct err *e);

/* Measure the experiments of a bundle here. A bundle runs nothing: what is run is what this kblat has under their names.
 * Run directories are made below `folder`. The claims of all of them, judged together; what could not be run is said on
 * standard error. 0 or a negative errno and `e`. */
int reproduce_run(const struct bundle *b, const char *folder, struct claim_verdicts *out, struct err *e);

#endif
