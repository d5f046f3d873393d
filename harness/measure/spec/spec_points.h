/*
 * Makes points of a block of axes: each gets a complete set of settings, with all defaults filled in, decoded and
 * checked.
 */
#ifndef KBLAT_SPEC_POINTS_H
#define KBLAT_SPEC_POINTS_H

#include "common/diag.h"
#include "measure/spec/spec_axes.h"
#include "measure/spec/spec_types.h"

/* Add the cross product of a block's axes to s->point and s->named; the last axis varies fastest. Errors are added to
 * `d`. */
void spec_add_points(struct spec *s, const struct axes_block *b, struct diag *d);

/* "unknown kernel 'onway'; did you mean 'oneway'?" */
void spec_complain_unknown(struct diag *d, unsigned line, unsigned column, const char *what, const char *name,
			   const char *nearest);

#endif
