/*
 * What a claim needs of the machine, one row of a table each (docs/claims.md): judged from what the run wrote down of the
 * machine, never from the machine that judges. Pure.
 */
#ifndef KBLAT_ANALYSIS_CLAIMS_NEEDS_H
#define KBLAT_ANALYSIS_CLAIMS_NEEDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* What is known of a run. Any may be NULL: then what depends on it is not known, and the need is not met. */
struct claim_machine {
	const json_t *run;	/* run.json */
	const json_t *state[2]; /* state.json's "keys" of the source's and the sink's host before the run */
	const json_t *devices;	/* names of the RDMA devices that were granted to the points judged; an array */
};

struct claim_need {
	const char *name;
	bool counts; /* {cpus: 4} */
	/* False and a sentence in `why` if the machine lacks it. */
	bool (*is_met)(const struct claim_machine *m, json_int_t count, char *why, size_t why_size);
};

extern const struct claim_need claim_needs[]; /* name NULL ends */
const struct claim_need *claim_need_find(const char *name);

/* All of a claim's "needs"; false and why for the first that is not met (or not known). */
bool claim_needs_met(const json_t *needs, const struct claim_machine *m, char *why, size_t why_size);

#endif
