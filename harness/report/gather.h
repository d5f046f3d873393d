/*
 * Reads the report's model from run directories.
 */
#ifndef KBLAT_REPORT_GATHER_H
#define KBLAT_REPORT_GATHER_H

#include "report/model.h"

struct err;

/* `runs` must outlive the report. 0 or a negative errno; release with model_free() in any case. */
int gather_report(struct report *r, const struct run *runs, size_t count, struct err *e);

#endif
