/*
 * The median against a numeric setting (above all the size), with P10 and P90: a panel for each
 * service type, a line for each combination of other settings that vary. For paced points, the
 * steps that were missed or not sent are shown below. One figure for each setting with at least
 * three values.
 */
#ifndef KBLAT_REPORT_FIGURE_AXIS_H
#define KBLAT_REPORT_FIGURE_AXIS_H

#include "report/figure.h"

int figure_axis_add(struct figures *f, const struct report *r, struct err *e);

#endif
