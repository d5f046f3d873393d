/*
 * Verdicts: one for each claim, and one for each of its cases (docs/claims.md). claim_judge.h makes them;
 * claim_verdict_json.h stores them in claims.json. A verdict owns what it points to, and its texts are never NULL.
 */
#ifndef KBLAT_CLAIMS_CLAIM_VERDICT_H
#define KBLAT_CLAIMS_CLAIM_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "claims/claim_case.h"
#include "common/err.h"

struct claim_verdict {
	char *experiment, *id, *claim, *source, *measured_by_source, *metric;
	char *wanted;	/* "ratio 0 to 0.5" */
	char *measured; /* "rc 0.35; uc 0.34" */
	enum claim_outcome verdict;
	char *why;
	struct claim_case *cases;
	size_t case_count;
};

struct claim_verdicts {
	struct claim_verdict *all;
	size_t count;
};

void claim_verdict_add_case(struct claim_verdict *v, struct claim_case one); /* takes what `one` owns */
void claim_verdicts_add(struct claim_verdicts *v, struct claim_verdict one); /* likewise */
void claim_verdicts_free(struct claim_verdicts *v);

/* The number of claims with this verdict. */
size_t claim_verdicts_count(const struct claim_verdicts *v, enum claim_outcome verdict);

/* STATUS_NO if one fails, STATUS_UNDECIDED if none could be judged, otherwise STATUS_OK. */
enum status claim_verdicts_status(const struct claim_verdicts *v);

/* Do they belong to more than one experiment? */
bool claim_verdicts_of_several(const struct claim_verdicts *v);

#endif
