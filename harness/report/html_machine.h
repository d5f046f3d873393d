/*
 * What a run was made on, and what changed there meanwhile.
 */
#ifndef KBLAT_REPORT_HTML_MACHINE_H
#define KBLAT_REPORT_HTML_MACHINE_H

#include "report/html.h"

void html_machines(const struct page *p);
void html_changes(const struct page *p);

#endif
