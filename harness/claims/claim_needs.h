/*
 * What a claim needs of the machine, with one row of a table for each need (docs/claims.md). Needs are checked against
 * what the run recorded about its machine, never against the machine on which claims are judged. Pure.
 */
#ifndef KBLAT_CLAIMS_CLAIM_NEEDS_H
#define KBLAT_CLAIMS_CLAIM_NEEDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "claims/claim.h"

/* What is known about a run. Any of these may be NULL; then needs that depend on it are not met. */
struct claim_machine {
	const json_t *run;	/* run.json */
	const json_t *state[2]; /* "keys" of state.json of the source's and the sink's host, before */
	const json_t *devices;	/* an array: names of those granted to the points judged */
};

struct claim_need_kind {
	const char *name;
	bool counts; /* {cpus: 4} */
	/* False and a sentence in `why` if the machine lacks it. */
	bool (*is_met)(const struct claim_machine *m, json_int_t count, char *why, size_t why_size);
};

extern const struct claim_need_kind claim_need_kinds[]; /* name NULL ends */
const struct claim_need_kind *claim_need_find(const char *name);

/* Checks all needs of a claim; false, and the reason in `why`, for the first that is not met (or not known). */
bool claim_needs_met(const struct claim *c, const struct claim_machine *m, char *why, size_t why_size);

#endif
