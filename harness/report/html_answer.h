/*
 * The answer of a report: what ran where and when, and whether it may be quoted, in a sentence for
 * each run.
 */
#ifndef KBLAT_REPORT_HTML_ANSWER_H
#define KBLAT_REPORT_HTML_ANSWER_H

#include "report/html.h"

void html_answers(const struct page *p);

#endif
