/*
 * Selects points by conditions on their settings. Pure.
 */
#ifndef KBLAT_CLAIMS_CLAIM_SELECT_H
#define KBLAT_CLAIMS_CLAIM_SELECT_H

#include <stdbool.h>

#include "claims/claim.h"

/* Do a point's params fulfil all conditions? A condition on a setting that the point does not have is not fulfilled. */
bool claim_selects(const struct claim_selection *s, const json_t *params);

/* Do two selections name this key with different conditions? */
bool claim_selects_differently(const struct claim_selection *a, const struct claim_selection *b, const char *key);

/* Does the selection have a condition on this key? */
bool claim_selects_by(const struct claim_selection *s, const char *key);

#endif
