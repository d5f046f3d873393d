/* Why messages were late, point by point: the summary's blocks `causes`. */
#ifndef KBLAT_REPORT_HTML_CAUSES_H
#define KBLAT_REPORT_HTML_CAUSES_H

#include "report/html.h"

/* A section, where some point was measured with `explain`. */
void html_causes(const struct page *p);

#endif
