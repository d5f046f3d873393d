/*
 * Verdicts: one for each claim, and one for each of its cases (docs/claims.md), and their form in files. claims.h makes
 * them. A verdict owns what it points to, and its texts are never NULL.
 */
#ifndef KBLAT_CLAIMS_CLAIM_VERDICT_H
#define KBLAT_CLAIMS_CLAIM_VERDICT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "files/claim/claim.h"
#include "judge/claims/claim_metric.h"

/* --- what a claim requires and what was measured, as texts in the unit of its numbers; the caller frees them --- */

#define CLAIM_NUMBER_MAX 64

/* "ratio at most 0.5", "rising along size" */
char *claim_wanted_text(const struct claim *c);

/* --- a case: one point, two that are compared, or several along a setting; it owns what it points to --- */

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

/* What was measured. */
void claim_case_measure(struct claim_case *c, const struct claim *claim, const struct estimate *e);

/* Takes `why`. */
void claim_case_decide(struct claim_case *c, enum claim_outcome verdict, char *why);

/* Decides the case: is the interval completely outside of the claim's bounds, completely inside, or neither? Stores the
 * verdict and what was measured. */
void claim_case_bound(struct claim_case *c, const struct claim *claim, const struct estimate *e);

/* What was measured in all cases, on one line: "rc 0.35; uc 0.34". The caller frees. */
char *claim_cases_text(const struct claim *c, const struct claim_case *cases, size_t count);

/* --- a claim --- */

struct claim_verdict {
	enum claim_origin origin;
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

/* Of its cases' values: "ns", "share", "hz", "bytes", "bytes/s"; "" for ratios, trends and counts. */
const char *claim_verdict_unit(const struct claim_verdict *v);

void claim_verdict_add_case(struct claim_verdict *v, struct claim_case one); /* takes what `one` owns */
void claim_verdicts_add(struct claim_verdicts *v, struct claim_verdict one); /* likewise */
void claim_verdicts_free(struct claim_verdicts *v);

/* The number of claims with this verdict, and of those that also have this origin. */
size_t claim_verdicts_count(const struct claim_verdicts *v, enum claim_outcome verdict);
size_t claim_verdicts_count_of(const struct claim_verdicts *v, enum claim_origin origin, enum claim_outcome verdict);

/* STATUS_NO if one fails, STATUS_UNDECIDED if none could be judged, otherwise STATUS_OK. */
enum status claim_verdicts_status(const struct claim_verdicts *v);

/* Do they belong to more than one experiment? */
bool claim_verdicts_of_several(const struct claim_verdicts *v);

/* --- as JSON --- */

/*
 * As in claims.json: a new reference. Only this module knows the keys.
 *
 *   {"schema": 1, "claims": [{"experiment", "id", "claim", "source", "measured_by_source", "metric", "wanted": "ratio 0 to
 *    0.5", "measured": "rc 0.35; uc 0.34", "verdict": "holds" | "fails" | "not judged", "why": "" or a sentence,
 *    "cases": [{"label": "rc", "points": [0], "against": [3], "value", "low", "high", "measured", "verdict", "why"}]}]}
 *
 * A claim that is not the source's also has "origin": "ours" | "self-test".
 * value, low and high are null where there is none; low and high also for an interval without an
 * end.
 */
json_t *claim_verdicts_to_json(const struct claim_verdicts *v);

/* Keys that are missing or have another type are taken as empty; an unknown verdict as "not judged". */
struct claim_verdicts claim_verdicts_from_json(const json_t *document);

#endif
