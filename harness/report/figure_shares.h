/*
 * Shares over time: for each point whose flows can be compared (analysis/fairness.h), the share of
 * the bytes that each flow moved while all were active; the mean of the repetitions, and their
 * range.
 */
#ifndef KBLAT_REPORT_FIGURE_SHARES_H
#define KBLAT_REPORT_FIGURE_SHARES_H

#include "report/figure.h"

struct err;

int figure_shares_add(struct figures *f, const struct report *r, struct err *e);

#endif
