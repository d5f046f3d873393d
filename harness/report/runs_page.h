/*
 * The page of all runs below a folder, out of its index: what was measured when, whether it is
 * valid, the medians, and how they went over time.
 */
#ifndef KBLAT_REPORT_RUNS_PAGE_H
#define KBLAT_REPORT_RUNS_PAGE_H

#include <stdbool.h>

struct err;

#define RUNS_PAGE_FILE "kblat-runs.html"

/* A folder with runs below it, which is no run itself? */
bool runs_page_is(const char *dir);

/* Bring the index of `dir` up to date and write the page there. `html_path` is the caller's to
 * free; NULL where it failed. */
int runs_page_make(const char *dir, char **html_path, struct err *e);

#endif
