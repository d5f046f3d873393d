/*
 * Finds the folder of the plot scripts.
 */
#ifndef KBLAT_REPORT_PLOT_SCRIPTS_H
#define KBLAT_REPORT_PLOT_SCRIPTS_H

struct err;

/*
 * $KBLAT_PLOTS, or the folder that came with the program (common/datadir.h). The caller frees. NULL
 * and `e` (STATUS_FAILED) if there is none.
 */
char *plot_scripts(struct err *e);

#endif
