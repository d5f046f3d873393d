/*
 * The median against two numeric settings at the same time (rate and size of samples), as a surface
 * in the style of the thesis: a wire frame in shades of blue, with its smallest and largest value
 * marked, and the share of a pacer's steps that were missed or not sent, if there were many. One
 * figure for each pair of settings and each combination of other settings that vary.
 */
#ifndef KBLAT_REPORT_FIGURE_SURFACE_H
#define KBLAT_REPORT_FIGURE_SURFACE_H

#include "report/figure.h"

int figure_surface_add(struct figures *f, const struct report *r, struct err *e);

#endif
