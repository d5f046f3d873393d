/*
 * A claim while it is being read. Errors are reported, and reading continues.
 */
#ifndef KBLAT_SPEC_CLAIMS_READER_H
#define KBLAT_SPEC_CLAIMS_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "claims/claim.h"
#include "point/point.h"

struct diag;
struct ynode;

struct claim_reader {
	struct diag *d;
	const struct point *points; /* the spec's */
	size_t count;
	bool whole;		  /* they are those of the spec as it is written */
	const char **flows;	  /* the names of all their flows; NULL after the last */
	bool only_flows;	  /* no point is without */
	const struct ynode *node; /* the claim's mapping */
	struct claim *claim;
};

/* Without a claim yet. `points` and `d` are borrowed. */
struct claim_reader claim_reader_open(const struct point *points, size_t count, struct diag *d);
void claim_reader_close(struct claim_reader *r);

/* Does any of the points have a flow with this name? */
bool claim_reader_has_flow(const struct claim_reader *r, const char *name);

void claim_reader_complain(struct claim_reader *r, const struct ynode *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
