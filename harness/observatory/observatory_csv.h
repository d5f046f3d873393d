/*
 * The numbers of runs in the form of Observatory's result files, one CSV file for each operation and direction:
 * docs/observatory.md.
 */
#ifndef KBLAT_OBSERVATORY_CSV_H
#define KBLAT_OBSERVATORY_CSV_H

#include <stddef.h>

#include "rundir/reader.h"

struct err;

/*
 * Into `dir`, which is made if missing; a file that is there already is an error (STATUS_USAGE), and then nothing is
 * written. `*skipped`: how many points are left out, as they are nothing that Observatory measures, or were not measured;
 * that all are is an error, too.
 */
int observatory_csv_write(const struct run *runs, size_t count, const char *dir, size_t *skipped, struct err *e);

#endif
