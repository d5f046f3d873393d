/*
 * The median over two numeric settings at once (rate and size of samples), as a surface, in the
 * thesis' manner: a wire frame in blues, its least and its largest value marked, and where many
 * steps of a pacer came to nothing, their share. A figure for each pair of settings, and of it for
 * each combination of what else varies.
 */
#ifndef KBLAT_REPORT_FIGURE_SURFACE_H
#define KBLAT_REPORT_FIGURE_SURFACE_H

#include "report/figure.h"

int figure_surface_add(struct figures *f, const struct report *r, struct err *e);

#endif
