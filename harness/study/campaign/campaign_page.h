/*
 * A campaign's derived/report.html: an index of its experiments, all their claims judged together, and links to the
 * pages of all runs, which are also made.
 */
#ifndef KBLAT_CAMPAIGN_PAGE_H
#define KBLAT_CAMPAIGN_PAGE_H

#include "study/study.h"

struct err;
struct run;

/* Make the page. `html` (free it) is set to its path. 0 or a negative errno and `e`. */
int campaign_page_make(struct study *s, char **html, struct err *e);

/* Open all runs that there are. campaign_close_runs() them in any case. */
int campaign_open_runs(const struct study *s, struct run **runs, size_t *count, struct err *e);
void campaign_close_runs(struct run *runs, size_t count);

#endif
