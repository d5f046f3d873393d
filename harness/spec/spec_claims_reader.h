/*
 * One claim while it is read. What is wrong is complained of, and reading goes on.
 */
#ifndef KBLAT_SPEC_CLAIMS_READER_H
#define KBLAT_SPEC_CLAIMS_READER_H

#include <jansson.h>
#include <stdbool.h>

#include "claims/claim.h"

struct diag;
struct ynode;

struct claim_reader {
	struct diag *d;
	const json_t *points;	  /* params of the spec's points */
	bool whole;		  /* they are those of the spec as it is written */
	const struct ynode *node; /* the claim's mapping */
	struct claim *claim;
};

void claim_reader_complain(struct claim_reader *r, const struct ynode *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
