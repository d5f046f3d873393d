/*
 * A table (common/table.h) on a page. Headings can be clicked to sort by; the rows of a group stay
 * together. A time is written for people, with its nanoseconds in the title.
 */
#ifndef KBLAT_REPORT_HTML_TABLE_H
#define KBLAT_REPORT_HTML_TABLE_H

#include "common/table.h"
#include "report/html.h"

/* `style`: a class of the table, or ""; `tall`: it scrolls within the page. */
void html_table(const struct page *p, const struct table *t, const char *style, bool tall);

#endif
