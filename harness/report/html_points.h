/*
 * The details of each point, collapsed: its histograms, its raw columns, and the command that
 * measures it again.
 */
#ifndef KBLAT_REPORT_HTML_POINTS_H
#define KBLAT_REPORT_HTML_POINTS_H

#include "report/html.h"

void html_points(const struct page *p);

/* "Point 3: rc, busy, size 32B." The caller frees. */
char *html_point_caption(const struct page *p, const struct report_point *point, const char *flow);

#endif
