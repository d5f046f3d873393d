/*
 * What each knob does alone and when it is left out, with intervals: one row a knob.
 */
#ifndef KBLAT_KNOBS_FIGURE_H
#define KBLAT_KNOBS_FIGURE_H

#include <jansson.h>

#include "report/figure.h"

struct err;

/* Of knobs.json; none where nothing was judged. */
int knobs_figure_add(struct figures *f, const json_t *knobs, struct err *e);

#endif
