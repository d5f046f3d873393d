/*
 * The report of a study of knobs: derived/report.html, with its figure.
 */
#ifndef KBLAT_KNOBS_PAGE_H
#define KBLAT_KNOBS_PAGE_H

#include "knobs/knobs_record.h"

/* 0 or a negative errno and `e`; without gnuplot the page has no figure (STATUS_IMPOSSIBLE). */
int knobs_page_make(const struct knobs *k, struct err *e);

#endif
