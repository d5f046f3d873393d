/*
 * The page of a run for others to read: made from the run directory, never copied from what its derived/ has, which the
 * manifest does not cover.
 */
#ifndef KBLAT_REPORT_CHECKED_PAGE_H
#define KBLAT_REPORT_CHECKED_PAGE_H

struct err;
struct run;

/* Check the run, and make its page and figures in `dir`, a new folder. `html`: its path; NULL if files of the run were changed
 * since it was sealed, or a page cannot be made of it. `why` (NULL: nothing is wrong): that, or that its numbers do not follow
 * from its columns. The caller frees both. 0, or a negative errno and `e` if it cannot be checked. */
int checked_page_make(const struct run *run, const char *dir, char **html, char **why, struct err *e);

#endif
