/*
 * A histogram for each point and flow, in the style of the thesis: bins of equal width, logarithmic
 * counts, t_lat in front of t_comp.
 */
#ifndef KBLAT_REPORT_FIGURE_HISTOGRAM_H
#define KBLAT_REPORT_FIGURE_HISTOGRAM_H

#include "report/figure.h"

int figure_histogram_add(struct figures *f, const struct report *r, struct err *e);

#endif
