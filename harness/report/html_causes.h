/* Why messages were late, point by point, from the blocks `causes` of the summary. */
#ifndef KBLAT_REPORT_HTML_CAUSES_H
#define KBLAT_REPORT_HTML_CAUSES_H

#include "report/html.h"

/* Write a section, if any point was measured with `explain`. */
void html_causes(const struct page *p);

#endif
