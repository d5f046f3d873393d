/*
 * The median against a numeric setting (size first of all), with P10 and P90: a panel for each
 * service type, a line for each combination of what else varies; of paced points, below them, the
 * steps that were missed and not sent. One figure for each setting that has at least three values.
 */
#ifndef KBLAT_REPORT_FIGURE_AXIS_H
#define KBLAT_REPORT_FIGURE_AXIS_H

#include "report/figure.h"

int figure_axis_add(struct figures *f, const struct report *r, struct err *e);

#endif
