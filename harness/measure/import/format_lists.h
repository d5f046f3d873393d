/* Lists of samples, in the order in which they were taken. */
#ifndef KBLAT_IMPORT_FORMAT_LISTS_H
#define KBLAT_IMPORT_FORMAT_LISTS_H

#include "measure/import/reading.h"

int read_perftest(struct reading *r, struct err *e);
int read_sockperf(struct reading *r, struct err *e);
int read_fio(struct reading *r, struct err *e);
int read_cyclic_lines(struct reading *r, struct err *e);

#endif
