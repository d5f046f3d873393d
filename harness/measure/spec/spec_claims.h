/*
 * The claims of a spec (docs/claims.md), read and checked: spec_claims.c reads them, spec_claims_reader.c holds the one
 * that is being read and knows the numbers, and spec_claims_select.c the points that it is about.
 */
#ifndef KBLAT_SPEC_CLAIMS_H
#define KBLAT_SPEC_CLAIMS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/units.h"
#include "files/claim/claim.h"
#include "measure/point/point.h"

struct diag;
struct opt;
struct ynode;

#define SPEC_MAX_CLAIMS 200

/*
 * `points`: all `count` points of the spec. `whole`: these are the points of the unmodified spec, so it is an error if
 * a claim selects none. Errors are added to `d`. Free with claim_list_free(); empty if there are no claims.
 */
struct claim_list spec_claims_read(const struct ynode *root, const struct point *points, size_t count, bool whole,
				   struct diag *d);

/* A claim while it is being read. Errors are reported, and reading continues. */
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

/* The unit of its numbers; and whether repetitions say how far off they may be, which they do not for sums. */
enum unit claim_reader_unit(const struct claim_metric *m);
bool claim_reader_has_interval(const struct claim_metric *m);

/* 'judge': the quantities that decide a comparison, "p50, p99" or a list, as an array of their keys; NULL: the spec names
 * none. A new reference. */
json_t *claim_reader_judge(const struct ynode *root, struct diag *d);

/* Whose setting is named. */
enum claim_scope {
	SCOPE_POINTS,	 /* of the spec's points */
	SCOPE_METRIC,	 /* likewise, or of the flow that the metric is of */
	SCOPE_ELSEWHERE, /* maybe of another experiment's points */
};

#define CLAIM_KEY_MAX 160

/* spec_claims_select.c: get the key of a setting in params, into `key` of CLAIM_KEY_MAX, and its row (NULL: it has
 * none). Returns false, after reporting an error, if there is no such setting. */
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
