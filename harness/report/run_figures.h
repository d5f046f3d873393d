/*
 * The figures of a run's report.
 */
#ifndef KBLAT_REPORT_RUN_FIGURES_H
#define KBLAT_REPORT_RUN_FIGURES_H

#include "report/figure.h"

/* Add the figures of every kind: none, one or many of each. `report`: a struct report. For figures_start(). */
int run_figures_add(struct figures *f, const void *report, struct err *e);

#endif
