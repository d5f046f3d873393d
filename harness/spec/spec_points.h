/*
 * From a block of axes to points: each a complete set of settings, every default written out, decoded and checked.
 */
#ifndef KBLAT_SPEC_POINTS_H
#define KBLAT_SPEC_POINTS_H

#include "common/diag.h"
#include "spec/spec.h"
#include "spec/spec_axes.h"

/* Add the cross product of a block's axes, the last varying fastest, to s->point and s->named. What is wrong is in `d`. */
void spec_add_points(struct spec *s, const struct axes_block *b, struct diag *d);

/* "unknown kernel 'onway'; did you mean 'oneway'?" */
void spec_complain_unknown(struct diag *d, unsigned line, unsigned column, const char *what, const char *name,
			   const char *nearest);

#endif
