/*
 * Which points a claim is about: conditions on their settings. Pure.
 *
 *   {"qp": ["rc", "uc"], "size_bytes": [{">=": 64, "<=": 4096}, 65536]}
 *
 * Every key must match; a list holds alternatives: a value that is meant, or an object of comparisons, all of which must
 * hold.
 */
#ifndef KBLAT_ANALYSIS_CLAIMS_SELECT_H
#define KBLAT_ANALYSIS_CLAIMS_SELECT_H

#include <jansson.h>
#include <stdbool.h>

/* "<=", ">=", "!=", "<", ">", in the order in which a text must be compared with them; NULL-terminated. */
extern const char *const claim_comparisons[];

/* Whether a point's params fulfil all conditions. A setting that the point does not have fulfils none. */
bool claim_selects(const json_t *conditions, const json_t *params);

#endif
