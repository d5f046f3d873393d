/*
 * Figures of all units of a comparison in chronological order, for figures_make().
 */
#ifndef KBLAT_REPORT_FIGURE_BOOTS_H
#define KBLAT_REPORT_FIGURE_BOOTS_H

#include "report/figure.h"

/* `result`: a json_t from compare_judge(). One figure for each point whose units have values. */
int figure_boots_add(struct figures *f, const void *result, struct err *e);

#endif
