/*
 * Stretches of a long sequence that are worth a look: as many entries as are asked for.
 */
#ifndef KBLAT_REPORT_STRETCH_H
#define KBLAT_REPORT_STRETCH_H

#include "analysis/period_score.h"

/* Where the stretch of `length` entries begins whose mean is the median of all, or the largest. They begin at multiples
 * of `step`. */
size_t stretch_typical(const struct period_sequence *s, size_t length, size_t step);
size_t stretch_worst(const struct period_sequence *s, size_t length, size_t step);

#endif
