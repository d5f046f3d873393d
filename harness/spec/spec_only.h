/*
 * --only: selects points of a spec.
 */
#ifndef KBLAT_SPEC_ONLY_H
#define KBLAT_SPEC_ONLY_H

#include "common/diag.h"
#include "spec/spec.h"

/* Keep the points that match all filters ("KEY=VALUE"; several for the same key are alternatives), drop duplicates, and
 * number the rest. */
void spec_keep_points(struct spec *s, const struct spec_overrides *o, struct diag *d);

#endif
