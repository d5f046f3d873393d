/*
 * How to check a run and to repeat it, and what it was asked to do.
 */
#ifndef KBLAT_REPORT_HTML_REPEAT_H
#define KBLAT_REPORT_HTML_REPEAT_H

#include "report/html.h"

void html_repeat(const struct page *p);
void html_specs(const struct page *p);

#endif
