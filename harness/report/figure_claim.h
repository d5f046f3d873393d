/*
 * The cases of a claim against a setting: the ratio of each case with its interval, and whether it
 * is within the claim's bounds. For claims about ratios whose cases differ in a numeric setting.
 */
#ifndef KBLAT_REPORT_FIGURE_CLAIM_H
#define KBLAT_REPORT_FIGURE_CLAIM_H

#include "report/figure.h"

int figure_claim_add(struct figures *f, const struct report *r, struct err *e);

#endif
