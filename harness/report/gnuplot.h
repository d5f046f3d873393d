/*
 * Runs gnuplot: as many processes at the same time as there are CPUs, each for several figures.
 * They are started without a shell, in process groups of their own, with a time limit for each
 * figure, and end when this process ends.
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

/* Prepare; nothing is started yet. */
struct gnuplot *gnuplot_open(void);

/* End processes that are still drawing. All scripts must have been waited for. */
void gnuplot_close(struct gnuplot *g);

/* Begin to draw the figures of a script in `dir`: immediately if a CPU is free; otherwise as soon
 * as one is free during a call of gnuplot_wait(). */
struct gnuplot_script *gnuplot_draw(struct gnuplot *g, const char *dir, const char *script, size_t figures);

/*
 * Wait until all figures of a script are drawn, and free it. 0; STATUS_IMPOSSIBLE if there is no
 * gnuplot; STATUS_FAILED with the figure and gnuplot's error message, or with the time limit (60 s
 * per figure). If one of its processes fails, the script's other ones are ended.
 */
int gnuplot_wait(struct gnuplot *g, struct gnuplot_script *s, struct err *e);

#endif
