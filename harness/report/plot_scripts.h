/*
 * The folder of the plot scripts.
 */
#ifndef KBLAT_REPORT_PLOT_SCRIPTS_H
#define KBLAT_REPORT_PLOT_SCRIPTS_H

struct err;

/*
 * $KBLAT_PLOTS, else plots/ above the running program (build/kblat, build/san/kblat), else the
 * installed one. The caller frees. NULL and `e` (STATUS_FAILED) if there is none.
 */
char *plot_scripts(struct err *e);

#endif
