/*
 * The claims of the specs and their verdicts: a row for each claim, with its cases below it.
 */
#ifndef KBLAT_REPORT_HTML_CLAIMS_H
#define KBLAT_REPORT_HTML_CLAIMS_H

#include "report/html.h"

void html_claims(const struct page *p);

#endif
