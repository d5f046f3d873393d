/*
 * The points that a claim is about, the points that it compares them with, and which of them belong together
 * (docs/claims.md).
 */
#ifndef KBLAT_CLAIMS_CLAIM_PAIRING_H
#define KBLAT_CLAIMS_CLAIM_PAIRING_H

#include "judge/claims/claim_needs.h"
#include "judge/claims/claim_verdict.h"

/* Why a claim is not judged: none of its points was measured. */
#define CLAIM_WITHOUT_POINT "the run has no point that the claim is about"

/* Points of one run, as selected. */
struct claim_side {
	const struct claim_run *run;
	const struct claim_metric *metric; /* the number of each */
	const struct summary_point **points;
	size_t count;
	json_t *varying; /* a set: the keys of the first point's params whose values differ between points */
	json_t *groups;	 /* an array of indexes of points, ascending, for each combination of joining values */
};

struct claim_pairing {
	const struct claim *claim;
	struct claim_side points, against;
	/* Keys of params in which points that belong together agree. If a point does not have the key, the settings of
	 * the metric's flow are used. */
	const char **by;
	size_t by_count;
};

/* For a claim of `run`, among `count` runs judged together. Returns NULL, or a sentence that says why the claim cannot
 * be judged (to be freed). Free the pairing in both cases; everything else is borrowed. */
char *claim_pairing_make(struct claim_pairing *p, const struct claim *claim, const struct claim_run *run,
			 const struct claim_run *runs, size_t count);
void claim_pairing_free(struct claim_pairing *p);

/* Those of p->points that belong together with this one, itself among them: an array of indexes, ascending. */
const json_t *claim_pairing_group(const struct claim_pairing *p, const struct summary_point *point);

/* The one point of `against` that agrees; otherwise NULL and the reason. */
const struct summary_point *claim_pairing_partner(const struct claim_pairing *p, const struct summary_point *point,
						  char **why);

/* What distinguishes a point's case from the others: "rc, 64B". The caller frees. */
char *claim_pairing_label(const struct claim_pairing *p, const struct summary_point *point);

/* Judges many cases of a claim as one: `pool: yes`. A small difference that all cases show, but none beyond its noise,
 * becomes visible in their geometric mean: the ratio of all points to the points that they are compared with. The case
 * gets the ids of all. */
void claim_pool_judge(struct claim_case *c, const struct claim_pairing *p);

#endif
