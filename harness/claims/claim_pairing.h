/*
 * The points that a claim is about, those that it compares them with, and which of the two belong
 * together (docs/claims.md).
 */
#ifndef KBLAT_CLAIMS_CLAIM_PAIRING_H
#define KBLAT_CLAIMS_CLAIM_PAIRING_H

#include "claims/claim.h"
#include "claims/claim_run.h"

/* Points of one run, as selected. */
struct claim_side {
	const struct claim_run *run;
	const struct claim_metric *metric; /* the number of each */
	const json_t **points;
	size_t count;
};

struct claim_pairing {
	const struct claim *claim;
	struct claim_side points, against;
	/* Keys of params: what points that belong together agree in. One that a point does not have is
	 * looked for in the flow that the metric is of. */
	const char **by;
	size_t by_count;
};

/* Of a claim that `run` makes, among `count` runs judged together. NULL, or why it can't be judged
 * (a sentence to be freed). To be freed in both cases; everything else is borrowed. */
char *claim_pairing_make(struct claim_pairing *p, const struct claim *claim, const struct claim_run *run,
			 const struct claim_run *runs, size_t count);
void claim_pairing_free(struct claim_pairing *p);

/* Do two of the points belong together? */
bool claim_pairing_agrees(const struct claim_pairing *p, const json_t *a, const json_t *b);

/* The one point of `against` that agrees; NULL and why. */
const json_t *claim_pairing_partner(const struct claim_pairing *p, const json_t *point, char **why);

/* What tells a point's case from the others: "rc, 64B". To be freed. */
char *claim_pairing_label(const struct claim_pairing *p, const json_t *point);

#endif
