/*
 * How to verify and repeat a run, and its spec.
 */
#ifndef KBLAT_REPORT_HTML_REPEAT_H
#define KBLAT_REPORT_HTML_REPEAT_H

#include "report/html.h"

void html_repeat(const struct page *p);

/* The command that measures a point again: the command of its run (run.json), in which the point's
 * filters, {"size": "32B"}, replace those for the same settings. */
void html_repeat_point(const struct page *p, const json_t *run, const json_t *filters);

void html_specs(const struct page *p);

#endif
