/*
 * Correlation of two quantities of runs, apart from the difference between the arms.
 */
#ifndef KBLAT_COMPARE_COMPARE_CORRELATION_H
#define KBLAT_COMPARE_COMPARE_CORRELATION_H

#include "compare/compare_runs.h"

/* Spearman's rank correlation, within the arms, over the runs that have both values (missing ones
 * are NAN). NAN if there are fewer than five. */
double compare_rank_correlation(const struct compare_runs *runs, const double *x, const double *y);

#endif
