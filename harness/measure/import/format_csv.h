/* A column of comma-separated values; also what kblat has exported. */
#ifndef KBLAT_IMPORT_FORMAT_CSV_H
#define KBLAT_IMPORT_FORMAT_CSV_H

#include "measure/import/reading.h"

int read_csv(struct reading *r, struct err *e);

#endif
