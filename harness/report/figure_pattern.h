/*
 * Of each point and flow whose latencies repeat (analysis/pattern.h): a repetition's latencies
 * against the number of the message, whole and in a typical and the worst stretch; and all of them
 * folded by the period.
 */
#ifndef KBLAT_REPORT_FIGURE_PATTERN_H
#define KBLAT_REPORT_FIGURE_PATTERN_H

#include "report/figure.h"

int figure_pattern_add(struct figures *f, const struct report *r, struct err *e);

#endif
