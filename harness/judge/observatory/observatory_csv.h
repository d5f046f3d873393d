/*
 * Exports results of runs in the format of Observatory's result files: one CSV file for each
 * operation and direction; see docs/observatory.md.
 */
#ifndef KBLAT_OBSERVATORY_CSV_H
#define KBLAT_OBSERVATORY_CSV_H

#include <stddef.h>

#include "files/rundir/reader.h"

struct err;

/*
 * Write the files to `dir`, which is created if missing. If one of the files exists, that is an
 * error (STATUS_USAGE), and nothing is written. `*skipped`: number of points that are left out
 * because Observatory does not measure such points, or because they were not measured. It is an
 * error if all are left out.
 */
int observatory_csv_write(const struct run *runs, size_t count, const char *dir, size_t *skipped, struct err *e);

#endif
