/*
 * The effect of each knob alone, and of leaving it out, with intervals: one row per knob.
 */
#ifndef KBLAT_KNOBS_FIGURE_H
#define KBLAT_KNOBS_FIGURE_H

#include <jansson.h>

#include "report/figure.h"

struct err;

/* `knobs`: knobs.json. Adds no figure if nothing was judged. */
int knobs_figure_add(struct figures *f, const json_t *knobs, struct err *e);

#endif
