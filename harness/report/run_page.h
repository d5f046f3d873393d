/*
 * The report.html of one run, or of several whose points are shown together.
 */
#ifndef KBLAT_REPORT_RUN_PAGE_H
#define KBLAT_REPORT_RUN_PAGE_H

#include "report/html.h"

/* Write the whole page. Write errors are left in the stream. */
void run_page_write(const struct page *p);

#endif
