/*
 * The claims of a spec (docs/claims.md), read and checked.
 */
#ifndef KBLAT_SPEC_CLAIMS_H
#define KBLAT_SPEC_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>

#include "files/claim/claim.h"
#include "measure/point/point.h"

struct diag;
struct ynode;

#define SPEC_MAX_CLAIMS 200

/*
 * `points`: all `count` points of the spec. `whole`: these are the points of the unmodified spec, so it is an error if
 * a claim selects none. Errors are added to `d`. Free with claim_list_free(); empty if there are no claims.
 */
struct claim_list spec_claims_read(const struct ynode *root, const struct point *points, size_t count, bool whole,
				   struct diag *d);

#endif
