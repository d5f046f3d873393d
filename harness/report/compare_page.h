/*
 * A comparison as a page: DIR/report.html with the answer, the table, what differs in the
 * machines' states, and a shift function of every point; DIR/figures (SVG, PDF, TSV) and
 * DIR/compare.json. The directory is the reader's own, never a run's.
 */
#ifndef KBLAT_REPORT_COMPARE_PAGE_H
#define KBLAT_REPORT_COMPARE_PAGE_H

#include "compare/compare_join.h"

struct err;

/*
 * `dir` must be missing or empty. `html_path` (free it) gets the path of the page.
 * STATUS_IMPOSSIBLE without gnuplot: all but the figures is there. Repetitions' histograms are
 * read, and checked against the manifests.
 */
int compare_page_make(const char *dir, const struct compare_join *j, const json_t *result, char **html_path,
		      struct err *e);

#endif
