/*
 * Files below derived/, and pages in directories chosen by the user. They are written without
 * precautions against crashes, because they can be made again, but never through a symbolic link. No more users may read
 * them than the runs: see run_mode_limit().
 */
#ifndef KBLAT_REPORT_DERIVED_H
#define KBLAT_REPORT_DERIVED_H

#include <stdio.h>

struct err;

/* Create a file for writing; NULL and `e` if that is not possible, or if it exists. */
FILE *derived_open(const char *path, struct err *e);

/* Prepare a directory chosen by the user for results from several runs: it must be missing (then it
 * is created) or empty; otherwise STATUS_USAGE. */
int derived_directory(const char *path, struct err *e);

/* Close the file; earlier write errors are reported now. NULL is accepted (-EIO; `e` was filled in
 * by derived_open). */
int derived_close(FILE *file, const char *path, struct err *e);

#endif
