/*
 * What a claim needs of the machine, one row of a table each (docs/claims.md): judged from what the
 * run wrote down of the machine, never from the machine that judges. Pure.
 */
#ifndef KBLAT_CLAIMS_CLAIM_NEEDS_H
#define KBLAT_CLAIMS_CLAIM_NEEDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "claims/claim.h"

/* What is known of a run. Any may be NULL: then what depends on it is not known, and the need is
 * not met. */
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

/* All needs of a claim; false and why for the first that is not met (or not known). */
bool claim_needs_met(const struct claim *c, const struct claim_machine *m, char *why, size_t why_size);

#endif
