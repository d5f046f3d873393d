/*
 * What the files share that read a claim: spec_claims.c takes it apart, spec_claims_select.c reads which points it is about, spec_claims_relation.c what is to
 * hold of them. What is wrong is complained of and reading goes on.
 */
#ifndef KBLAT_SPEC_CLAIMS_READ_H
#define KBLAT_SPEC_CLAIMS_READ_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct diag;
struct opt;
struct ynode;

/* One claim while it is read. */
struct claim_reader {
	struct diag *d;
	const json_t *points;
	bool whole;
	const struct ynode *node; /* the claim's mapping */
	json_t *claim;
};

void claim_complain(struct claim_reader *r, const struct ynode *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The key that a setting has in params, into `key`, and its row; false and a complaint if there is no such setting. */
bool claim_read_key(struct claim_reader *r, const struct ynode *n, const struct opt **row, char *key, size_t size);

/* A selection's conditions. `reserved`: keys that are no settings may stand among them (they are read elsewhere). */
json_t *claim_read_selection(struct claim_reader *r, const struct ynode *n, const char *what, bool reserved);

/* Complain if none of the spec's points is selected. */
void claim_check_selects(struct claim_reader *r, const struct ynode *n, const json_t *conditions, const char *what);

/* "lat_ns.p50" */
void claim_check_metric(struct claim_reader *r, const struct ynode *n);
void claim_read_metric(struct claim_reader *r, const struct ynode *n);

/* Ratio, difference, value or order, with its bounds, `along` and `tolerance`. The metric is read. */
void claim_read_relation(struct claim_reader *r);

#endif
