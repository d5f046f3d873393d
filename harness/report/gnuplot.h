/*
 * gnuplot, drawing: as many processes at once as there are CPUs, each for several figures. They
 * are started without a shell, in process groups of their own, with a time limit for each figure,
 * and end when this process does.
 *
 * A script draws the figures for which `number % parts == part`, these two being set before it is
 * read, and prints a line "figure NAME" before each, so that a failure can name it.
 */
#ifndef KBLAT_REPORT_GNUPLOT_H
#define KBLAT_REPORT_GNUPLOT_H

#include <stddef.h>

struct err;
struct gnuplot;
struct gnuplot_script;

/* Nothing is started yet. */
struct gnuplot *gnuplot_open(void);

/* What still draws is ended. All scripts must have been waited for. */
void gnuplot_close(struct gnuplot *g);

/* Begin to draw the figures of a script in `dir`: at once where a CPU is free, else when one is,
 * while somebody waits. */
struct gnuplot_script *gnuplot_draw(struct gnuplot *g, const char *dir, const char *script, size_t figures);

/*
 * Wait until all figures of a script are drawn, and let go of it. 0; STATUS_IMPOSSIBLE where there
 * is no gnuplot; STATUS_FAILED with the figure and what gnuplot wrote if it fails, or with the
 * time limit (60 s for a figure). Of a script that failed nothing goes on.
 */
int gnuplot_wait(struct gnuplot *g, struct gnuplot_script *s, struct err *e);

#endif
