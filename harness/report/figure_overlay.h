/*
 * Two points in one histogram: inline or not, send or write, signalled or not. Of each two that
 * differ in nothing but one setting with two values, or in several that always change together,
 * unless a figure against another setting compares them already. Service types, sizes and rates
 * are not laid over each other; nor is t_comp.
 */
#ifndef KBLAT_REPORT_FIGURE_OVERLAY_H
#define KBLAT_REPORT_FIGURE_OVERLAY_H

#include "report/figure.h"

int figure_overlay_add(struct figures *f, const struct report *r, struct err *e);

/* How many there could be; only the first FIGURE_OVERLAYS_MAX are drawn. */
size_t figure_overlay_count(const struct report *r);
#define FIGURE_OVERLAYS_MAX 32

#endif
