/*
 * Which points a claim is about, as a spec says it.
 */
#ifndef KBLAT_SPEC_CLAIMS_SELECT_H
#define KBLAT_SPEC_CLAIMS_SELECT_H

#include <stdbool.h>
#include <stddef.h>

#include "spec/spec_claims_reader.h"

struct opt;

/* Whose setting is named. */
enum claim_scope {
	SCOPE_POINTS,	 /* of the spec's points */
	SCOPE_METRIC,	 /* likewise, or of the flow that the metric is of */
	SCOPE_ELSEWHERE, /* maybe of another experiment's points */
};

#define CLAIM_KEY_MAX 160

/* The key that a setting has in params, into `key` of CLAIM_KEY_MAX, and its row (NULL: it has
 * none); false and a complaint if there is no such setting. */
bool claim_reader_key(struct claim_reader *r, const struct ynode *n, enum claim_scope scope, const struct opt **row,
		      char *key);

/* Conditions. Of `against`, which `what` then says, keys that are no settings may stand among them
 * (they are read elsewhere). */
void claim_reader_selection(struct claim_reader *r, const struct ynode *n, const char *what, enum claim_scope scope,
			    struct claim_selection *s);

/* Complain if none of the spec's points is selected. */
void claim_reader_check_selects(struct claim_reader *r, const struct ynode *n, const struct claim_selection *s,
				const char *what);

#endif
