/*
 * Finds sections of a long sequence that are worth showing.
 */
#ifndef KBLAT_REPORT_STRETCH_H
#define KBLAT_REPORT_STRETCH_H

#include "analysis/period_score.h"

/* The start of the section of `length` entries whose mean is the median of those of all sections,
 * or the largest. Sections start at multiples of `step`. */
size_t stretch_typical(const struct period_sequence *s, size_t length, size_t step);
size_t stretch_worst(const struct period_sequence *s, size_t length, size_t step);

#endif
