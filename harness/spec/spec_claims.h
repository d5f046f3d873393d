/*
 * The claims of a spec (docs/claims.md), read and checked.
 */
#ifndef KBLAT_SPEC_CLAIMS_H
#define KBLAT_SPEC_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>

#include "claims/claim.h"
#include "point/point.h"

struct diag;
struct ynode;

#define SPEC_MAX_CLAIMS 200

/*
 * `points`: all `count` that the spec means. `whole`: they are those of the spec as it
 * is written, so that a selection without a point is a mistake. What is wrong goes to `d`. For
 * claim_list_free(); empty without claims.
 */
struct claim_list spec_claims_read(const struct ynode *root, const struct point *points, size_t count, bool whole,
				   struct diag *d);

#endif
