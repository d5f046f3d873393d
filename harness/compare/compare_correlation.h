/*
 * Do two quantities of runs move together, whatever their arms differ by?
 */
#ifndef KBLAT_COMPARE_COMPARE_CORRELATION_H
#define KBLAT_COMPARE_COMPARE_CORRELATION_H

#include "compare/compare_runs.h"

/* Spearman's, within the arms, over the runs that have both values (the others: NAN). NAN with fewer than five. */
double compare_rank_correlation(const struct compare_runs *runs, const double *x, const double *y);

#endif
