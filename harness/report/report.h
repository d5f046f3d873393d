/*
 * Makes derived/: figures (data is reduced to tables here, and drawn by gnuplot with
 * plots/<name>.gp as SVG and PDF) and a self-contained report.html. Only run directories are read.
 * derived/ may be deleted and made again.
 */
#ifndef KBLAT_REPORT_REPORT_H
#define KBLAT_REPORT_REPORT_H

#include <stddef.h>

#include "files/rundir/reader.h"

struct claim_verdicts;
struct gnuplot;
struct report_draft;

/*
 * Make derived/ of runs[0]. Points of further runs are shown together with its own (as `make run`
 * does with a native run and one in the guest). `html_path` (to be freed) is set to the path of
 * report.html. STATUS_IMPOSSIBLE if gnuplot is missing; the tables (.tsv) and a page without
 * figures are made nevertheless.
 */
int report_make(const struct run *runs, size_t count, char **html_path, struct err *e);

/* The same in `dir`, whose content is replaced, instead of derived/. */
int report_make_in(const struct run *runs, size_t count, const char *dir, char **html_path, struct err *e);

/*
 * The same in two steps, so that figures of one report can be drawn while another report is begun.
 * `verdicts` on claims (judge/claims/claim_verdict.h; NULL: none) may be based on more runs than these.
 * Runs and verdicts must outlive the draft, which report_finish() frees. report_start() returns
 * NULL and `e` if there is nothing to finish.
 */
struct report_draft *report_start(const struct run *runs, size_t count, const struct claim_verdicts *verdicts,
				  struct gnuplot *g, struct err *e);
int report_finish(struct report_draft *d, struct gnuplot *g, char **html_path, struct err *e);

#endif
