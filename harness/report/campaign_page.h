/*
 * A campaign's derived/report.html: an index of its experiments, all their claims judged together,
 * and links to the page of every run, which is made beside it.
 */
#ifndef KBLAT_REPORT_CAMPAIGN_PAGE_H
#define KBLAT_REPORT_CAMPAIGN_PAGE_H

#include <stdbool.h>

struct err;

/* Does the directory hold a campaign? */
bool campaign_page_is(const char *dir);

/* `html_path` (free it) gets the path of the page. */
int campaign_page_make(const char *dir, char **html_path, struct err *e);

#endif
