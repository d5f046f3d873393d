/*
 * The table of numbers: a row for each series of each flow of each point. Its columns are the
 * statistics and summary blocks of analysis/ that a report shows, and only what some point has.
 */
#ifndef KBLAT_REPORT_HTML_NUMBERS_H
#define KBLAT_REPORT_HTML_NUMBERS_H

#include "report/html.h"

/* Its section is ended by html_notes(). */
void html_numbers(const struct page *p);

#endif
