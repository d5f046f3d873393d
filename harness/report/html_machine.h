/*
 * The machines of a run, and what changed on them meanwhile.
 */
#ifndef KBLAT_REPORT_HTML_MACHINE_H
#define KBLAT_REPORT_HTML_MACHINE_H

#include "report/html.h"

void html_machines(const struct page *p);
void html_changes(const struct page *p);

#endif
