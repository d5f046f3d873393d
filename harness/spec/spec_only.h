/*
 * --only: which of a spec's points stay.
 */
#ifndef KBLAT_SPEC_ONLY_H
#define KBLAT_SPEC_ONLY_H

#include "common/diag.h"
#include "spec/spec.h"

/* Keep the points that match all filters ("KEY=VALUE"; several of one key are alternatives), one of those that are alike,
 * and number them. */
void spec_keep_points(struct spec *s, const struct spec_overrides *o, struct diag *d);

#endif
