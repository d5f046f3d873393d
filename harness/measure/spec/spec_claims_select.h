/*
 * The points that a claim is about, as written in a spec.
 */
#ifndef KBLAT_SPEC_CLAIMS_SELECT_H
#define KBLAT_SPEC_CLAIMS_SELECT_H

#include <stdbool.h>
#include <stddef.h>

#include "measure/spec/spec_claims_reader.h"

struct opt;

/* Whose setting is named. */
enum claim_scope {
	SCOPE_POINTS,	 /* of the spec's points */
	SCOPE_METRIC,	 /* likewise, or of the flow that the metric is of */
	SCOPE_ELSEWHERE, /* maybe of another experiment's points */
};

#define CLAIM_KEY_MAX 160

/* Get the key of a setting in params, into `key` of CLAIM_KEY_MAX, and its row (NULL: it has none). Returns false,
 * after reporting an error, if there is no such setting. */
bool claim_reader_key(struct claim_reader *r, const struct ynode *n, enum claim_scope scope, const struct opt **row,
		      char *key);

/* Read the conditions. If `what` is "against", there may also be keys that are not settings (they are read
 * elsewhere). */
void claim_reader_selection(struct claim_reader *r, const struct ynode *n, const char *what, enum claim_scope scope,
			    struct claim_selection *s);

/* Report an error if none of the spec's points is selected. */
void claim_reader_check_selects(struct claim_reader *r, const struct ynode *n, const struct claim_selection *s,
				const char *what);

#endif
