/*
 * A case of a claim: one point, two that are compared, or several along a setting. It owns what it
 * points to.
 */
#ifndef KBLAT_CLAIMS_CLAIM_CASE_H
#define KBLAT_CLAIMS_CLAIM_CASE_H

#include <stddef.h>
#include <stdint.h>

#include "claims/claim.h"
#include "claims/claim_interval.h"

enum claim_outcome { CLAIM_HOLDS, CLAIM_FAILS, CLAIM_NOT_JUDGED, CLAIM_OUTCOMES };

/* "holds", …; NULL after the last. */
extern const char *const claim_outcome_names[];

struct point_ids {
	int64_t *id;
	size_t count;
};

struct claim_case {
	char *label;		  /* "rc, 64B": what distinguishes it from the other cases; "" if there is only one */
	struct point_ids points;  /* the points that the claim is about */
	struct point_ids against; /* the points that they were compared with */
	double value, low, high;  /* NAN: there is none, or it is infinite */
	char *measured;		  /* "2.21 (2.05 to 2.4)"; "" */
	enum claim_outcome verdict;
	char *why; /* a sentence, or "" */
};

void point_ids_add(struct point_ids *ids, int64_t id);

/* Holds, nothing measured, no reason. Takes `label`. */
struct claim_case claim_case_make(char *label);
void claim_case_free(struct claim_case *c);

/* What was measured. */
void claim_case_measure(struct claim_case *c, const struct claim *claim, const struct estimate *e);

/* Takes `why`. */
void claim_case_decide(struct claim_case *c, enum claim_outcome verdict, char *why);

/* Decides the case: is the interval completely outside of the claim's bounds, completely inside, or neither? Stores the
 * verdict and what was measured. */
void claim_case_bound(struct claim_case *c, const struct claim *claim, const struct estimate *e);

/* What was measured in all cases, on one line: "rc 0.35; uc 0.34". The caller frees. */
char *claim_cases_text(const struct claim *c, const struct claim_case *cases, size_t count);

#endif
