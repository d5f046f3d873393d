/*
 * A campaign's derived/report.html: an index of its experiments, all their claims judged together,
 * and links to the pages of all runs, which are also made.
 */
#ifndef KBLAT_REPORT_CAMPAIGN_PAGE_H
#define KBLAT_REPORT_CAMPAIGN_PAGE_H

#include <stdbool.h>

struct err;

/* Does the directory contain a campaign? */
bool campaign_page_is(const char *dir);

/* Make the page. `html_path` (to be freed) is set to its path. */
int campaign_page_make(const char *dir, char **html_path, struct err *e);

#endif
