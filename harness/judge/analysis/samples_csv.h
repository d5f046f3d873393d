/*
 * Every sample of a point as CSV: what `kblat import csv` reads. Comments say of which run, boot and time they are, so that
 * runs which were exported and imported are compared as the originals would be.
 */
#ifndef KBLAT_ANALYSIS_SAMPLES_CSV_H
#define KBLAT_ANALYSIS_SAMPLES_CSV_H

#include <stdio.h>

#include "files/rundir/reader.h"

struct err;

/* The point with that id, or the only one if it is negative: a row for each message, with its repetition and, for each
 * series, its time in the unit that the series' name ends in; empty: lost. STATUS_USAGE for a point that the run does not
 * have, or that has several flows. */
int samples_csv(const struct run *run, long point, FILE *out, struct err *e);

#endif
