/*
 * The page of all pairs: derived/report.html, with p50 and p99 of each point as matrices (heat maps).
 */
#ifndef KBLAT_PAIRS_PAGE_H
#define KBLAT_PAIRS_PAGE_H

#include "study/pairs/pairs_answer.h"

/* `html` (free it) gets the path of the page; NULL: there is none. 0 or a negative errno and `e`; without gnuplot the
 * page lacks its figures (STATUS_IMPOSSIBLE). */
int pairs_page_make(const struct study *s, const struct pairs_answer *answer, char **html, struct err *e);

#endif
