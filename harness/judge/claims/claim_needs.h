/*
 * A run, as needed to judge claims: the content of its files, and what is known about its machine. And what a claim
 * needs of that machine, with one row of a table for each need (docs/claims.md). Needs are checked against what the run
 * recorded, never against the machine on which claims are judged.
 */
#ifndef KBLAT_CLAIMS_CLAIM_NEEDS_H
#define KBLAT_CLAIMS_CLAIM_NEEDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"
#include "files/claim/claim.h"
#include "files/rundir/reader.h"

struct summary;

/* --- a run --- */

/* What a side of a point's flow was granted. */
struct claim_side_granted {
	json_int_t point;
	bool is_sink;
	char *device; /* an RDMA device; NULL: none */
	bool is_software;
	char *link;   /* what its messages go through (files/rundir/reader.h); NULL: nothing, or it is not known */
	bool is_loop; /* messages go to the same port, and do not leave it */
};

struct claim_run {
	const struct run_record *record; /* borrowed */
	const json_t *resolved;		 /* likewise */
	struct summary *summary;
	/* "keys" of state.json of the source's and the sink's host, before the run; may be NULL. */
	json_t *state[2];
	struct claim_side_granted *sides; /* in the order of points */
	size_t side_count;
};

/* -ENOENT (STATUS_USAGE) if the run has no summary yet. Free in both cases. */
int claim_run_read(const struct run *run, struct claim_run *out, struct err *e);
void claim_run_free(struct claim_run *r);

/* --- needs --- */

/* What is known about a run. What is NULL is not known; then needs that depend on it are not met. */
struct claim_machine {
	const struct run_record *record;
	const json_t *state[2]; /* "keys" of state.json of the source's and the sink's host, before */
	const struct claim_side_granted *const *sides; /* of the points judged */
	size_t side_count;
};

/* Checks all needs of a claim; false, and the reason in `why`, for the first that is not met (or not known). */
bool claim_needs_met(const struct claim *c, const struct claim_machine *m, char *why, size_t why_size);

#endif
