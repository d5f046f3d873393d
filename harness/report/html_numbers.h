/*
 * The table of numbers: a row for each series of each flow of each point. Its columns are the
 * statistics and summary blocks of analysis/ that a report shows and that at least one point has.
 */
#ifndef KBLAT_REPORT_HTML_NUMBERS_H
#define KBLAT_REPORT_HTML_NUMBERS_H

#include "report/html.h"

/* html_notes() must end its section. */
void html_numbers(const struct page *p);

#endif
