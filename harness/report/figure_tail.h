/*
 * Late messages of a flow that was measured with `explain`: the tail by cause, and what had the CPUs of the worst ones.
 */
#ifndef KBLAT_REPORT_FIGURE_TAIL_H
#define KBLAT_REPORT_FIGURE_TAIL_H

#include "report/figure.h"

/* The kinds "tail" and "timeline". */
int figure_tail_add(struct figures *f, const struct report *r, struct err *e);

#endif
