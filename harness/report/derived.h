/*
 * Files below derived/, and pages in directories of the reader's own: written plainly, as they may
 * be deleted and made again, but never through a link.
 */
#ifndef KBLAT_REPORT_DERIVED_H
#define KBLAT_REPORT_DERIVED_H

#include <stdio.h>

struct err;

/* A fresh file to write; NULL and `e` if it can't be made, or is there already. */
FILE *derived_open(const char *path, struct err *e);

/* A directory of the reader's for what is made of several runs: missing (then it is made) or
 * empty; else STATUS_USAGE. */
int derived_directory(const char *path, struct err *e);

/* Close it; an earlier failure to write is told now. NULL is accepted (-EIO, `e` was filled by
 * derived_open). */
int derived_close(FILE *file, const char *path, struct err *e);

#endif
