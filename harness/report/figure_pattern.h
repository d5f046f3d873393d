/*
 * For each point and flow with periodic latencies (analysis/pattern.h): a repetition's latencies
 * against the index of the message, completely and in a typical and the worst section; and all
 * latencies folded by the period.
 */
#ifndef KBLAT_REPORT_FIGURE_PATTERN_H
#define KBLAT_REPORT_FIGURE_PATTERN_H

#include "report/figure.h"

int figure_pattern_add(struct figures *f, const struct report *r, struct err *e);

#endif
