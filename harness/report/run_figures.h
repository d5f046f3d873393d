/*
 * The figures of a run's report.
 */
#ifndef KBLAT_REPORT_RUN_FIGURES_H
#define KBLAT_REPORT_RUN_FIGURES_H

#include "report/figure.h"

/* Of every kind as many as there are: none, one or many. `report`: struct report. For
 * figures_start(). */
int run_figures_add(struct figures *f, const void *report, struct err *e);

#endif
