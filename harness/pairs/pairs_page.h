/*
 * The page of all pairs: derived/report.html, with the matrices.
 */
#ifndef KBLAT_PAIRS_PAGE_H
#define KBLAT_PAIRS_PAGE_H

#include "pairs/pairs_record.h"

/* `html` (free it) gets the path of the page; NULL: there is none. 0 or a negative errno and `e`; without gnuplot the page lacks its figures
 * (STATUS_IMPOSSIBLE). */
int pairs_page_make(const struct pairs *p, char **html, struct err *e);

#endif
