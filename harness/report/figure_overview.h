/*
 * All points side by side: median, P10 to P90 and p99 of every series, on a logarithmic axis.
 */
#ifndef KBLAT_REPORT_FIGURE_OVERVIEW_H
#define KBLAT_REPORT_FIGURE_OVERVIEW_H

#include "report/figure.h"

int figure_overview_add(struct figures *f, const struct report *r, struct err *e);

#endif
