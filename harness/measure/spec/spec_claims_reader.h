/*
 * A claim while it is being read. Errors are reported, and reading continues.
 */
#ifndef KBLAT_SPEC_CLAIMS_READER_H
#define KBLAT_SPEC_CLAIMS_READER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/units.h"
#include "files/claim/claim.h"
#include "measure/point/point.h"

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

/* Check and store it. `is_elsewhere`: it belongs to points of another experiment. */
void claim_reader_metric(struct claim_reader *r, const struct ynode *n, bool is_elsewhere, struct claim_metric *m);

/* The unit of its numbers; and whether there is one number for each repetition, whose spread counts. */
enum unit claim_reader_unit(const struct claim_metric *m);
bool claim_reader_spreads(const struct claim_metric *m);

/* 'judge': the quantities that decide a comparison, "p50, p99" or a list, as an array of their keys; NULL: the spec names
 * none. A new reference. */
json_t *claim_reader_judge(const struct ynode *root, struct diag *d);

#endif
