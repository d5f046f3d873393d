/*
 * The page of all pairs: derived/report.html, with the matrices.
 */
#ifndef KBLAT_PAIRS_PAGE_H
#define KBLAT_PAIRS_PAGE_H

#include "pairs/pairs_record.h"

/* 0 or a negative errno and `e`; without gnuplot the page lacks its figures (STATUS_IMPOSSIBLE). */
int pairs_page_make(const struct pairs *p, struct err *e);

#endif
