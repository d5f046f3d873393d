/*
 * gnuplot, started without a shell, in a process group of its own, with a time limit.
 */
#ifndef KBLAT_REPORT_GNUPLOT_H
#define KBLAT_REPORT_GNUPLOT_H

struct err;

/*
 * The folder of the plot scripts: $KBLAT_PLOTS, else plots/ above the running program (build/kblat, build/san/kblat),
 * else the installed one. The caller frees. NULL and `e` (STATUS_FAILED) if there is none.
 */
char *gnuplot_scripts(struct err *e);

/*
 * Run `script` in `dir`. 0; STATUS_IMPOSSIBLE where there is no gnuplot; STATUS_FAILED with what it wrote to stderr if
 * it fails, or with the time limit (60 s) if it does not end.
 */
int gnuplot_run(const char *dir, const char *script, struct err *e);

#endif
