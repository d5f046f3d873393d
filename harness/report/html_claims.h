/*
 * What the specs claim, and what became of it: a row for each claim, its cases below it.
 */
#ifndef KBLAT_REPORT_HTML_CLAIMS_H
#define KBLAT_REPORT_HTML_CLAIMS_H

#include "report/html.h"

void html_claims(const struct page *p);

#endif
