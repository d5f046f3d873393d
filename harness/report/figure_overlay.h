/*
 * Two points in one histogram: inline or not, send or write, signalled or not. There is one for
 * every two points that only differ in one setting with two values, or in several that always
 * change together, unless a figure against another setting already compares them. Service types,
 * sizes and rates are not overlaid, and neither is t_comp.
 */
#ifndef KBLAT_REPORT_FIGURE_OVERLAY_H
#define KBLAT_REPORT_FIGURE_OVERLAY_H

#include "report/figure.h"

int figure_overlay_add(struct figures *f, const struct report *r, struct err *e);

/* The number of possible overlays; only the first FIGURE_OVERLAYS_MAX are drawn. */
size_t figure_overlay_count(const struct report *r);
#define FIGURE_OVERLAYS_MAX 32

#endif
