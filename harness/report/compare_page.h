/*
 * A comparison as a page: DIR/report.html with the answer, the table, the differences between the
 * machines' states, and a shift function of every point; DIR/figures (SVG, PDF, TSV) and
 * DIR/compare.json. The directory is chosen by the user, and never that of a run.
 */
#ifndef KBLAT_REPORT_COMPARE_PAGE_H
#define KBLAT_REPORT_COMPARE_PAGE_H

#include "judge/compare/compare_join.h"

struct comparison;
struct err;

/*
 * Make the page. `dir` must be missing or empty. `html_path` (to be freed) is set to the path of
 * the page. Histograms of repetitions are read, and checked against the manifests.
 * STATUS_IMPOSSIBLE without gnuplot: everything but the figures is made.
 */
int compare_page_make(const char *dir, const struct compare_join *j, const struct comparison *result, char **html_path,
		      struct err *e);

#endif
