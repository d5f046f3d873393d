/*
 * Figures drawn by gnuplot, as SVG and PDF, next to their tables.
 */
#ifndef KBLAT_REPORT_FIGURES_H
#define KBLAT_REPORT_FIGURES_H

#include "report/figure.h"

struct err;
struct gnuplot;

/* Begins and ends the figures of `what`. */
typedef int figures_add(struct figures *f, const void *what, struct err *e);

/*
 * Write the tables and the script of all figures that `add` makes to `dir` (created if missing),
 * and begin to draw them. The tables are written even if nothing can be drawn. Release with
 * figures_free() in any case.
 */
int figures_start(struct figures *f, const char *dir, figures_add *add, const void *what, struct gnuplot *g,
		  struct err *e);

/* Wait until they are drawn. STATUS_IMPOSSIBLE without gnuplot. */
int figures_finish(struct figures *f, struct gnuplot *g, struct err *e);

/* figures_start() and figures_finish(). */
int figures_make(struct figures *f, const char *dir, figures_add *add, const void *what, struct err *e);

/* Free figures that were started, after they have been finished. */
void figures_free(struct figures *f);

#endif
