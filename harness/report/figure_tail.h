/*
 * Late messages of a flow that was measured with `explain`: the tail by cause, and what took the
 * CPUs during the worst ones.
 */
#ifndef KBLAT_REPORT_FIGURE_TAIL_H
#define KBLAT_REPORT_FIGURE_TAIL_H

#include "report/figure.h"

/* Adds figures of the kinds "tail" and "timeline". */
int figure_tail_add(struct figures *f, const struct report *r, struct err *e);

#endif
