/*
 * What a claim's cases say along a setting: the ratio of each, with its interval, within the claim's
 * bounds or not. Of claims about ratios whose cases differ in a setting that is a number.
 */
#ifndef KBLAT_REPORT_FIGURE_CLAIM_H
#define KBLAT_REPORT_FIGURE_CLAIM_H

#include "report/figure.h"

int figure_claim_add(struct figures *f, const struct report *r, struct err *e);

#endif
