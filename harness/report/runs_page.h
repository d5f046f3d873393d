/*
 * The page of all runs below a folder, from its index: what was measured when, whether it is valid,
 * the medians, and how they developed over time.
 */
#ifndef KBLAT_REPORT_RUNS_PAGE_H
#define KBLAT_REPORT_RUNS_PAGE_H

#include <stdbool.h>

struct err;

#define RUNS_PAGE_FILE "kblat-runs.html"

/* Is this a folder with runs below it, and not a run itself? */
bool runs_page_is(const char *dir);

/* Update the index of `dir` and write the page to `dir`. The caller frees `html_path`, which is
 * NULL on failure. */
int runs_page_make(const char *dir, char **html_path, struct err *e);

#endif
