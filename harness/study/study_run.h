/*
 * The order of things in every study: plan, make the directory, run the cells, judge, print; and to continue one.
 */
#ifndef KBLAT_STUDY_STUDY_RUN_H
#define KBLAT_STUDY_STUDY_RUN_H

#include "study/study.h"

/* Begin or continue a study. Prints its answer and, as the last line, its directory. */
enum status study_run(const struct study_kind *kind, const struct study_request *r, struct err *e);

/* The state of each cell, a line each. */
void study_print_cells(const struct study *s);

/* The page of the study in `dir`. */
int study_report(const struct study_kind *kind, const char *dir, char **html, struct err *e);

#endif
