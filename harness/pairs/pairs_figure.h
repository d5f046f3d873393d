/*
 * Matrices of all pairs as heat maps: of each point p50 and p99.
 */
#ifndef KBLAT_PAIRS_FIGURE_H
#define KBLAT_PAIRS_FIGURE_H

#include "pairs/pairs_record.h"
#include "report/figure.h"

/* Of p->j's answer. */
int pairs_figure_add(struct figures *f, const struct pairs *p, struct err *e);

#endif
