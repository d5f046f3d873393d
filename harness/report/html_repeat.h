/*
 * How to check a run and to repeat it, and what it was asked to do.
 */
#ifndef KBLAT_REPORT_HTML_REPEAT_H
#define KBLAT_REPORT_HTML_REPEAT_H

#include "report/html.h"

void html_repeat(const struct page *p);

/* The command that measures a point again: that of its run (run.json), with the point's filters, {"size": "32B"},
 * in place of those it has on the same settings. */
void html_repeat_point(const struct page *p, const json_t *run, const json_t *filters);

void html_specs(const struct page *p);

#endif
