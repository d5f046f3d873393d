/*
 * Reads the JSON files of a run directory and checks them: the number of their schema, required
 * keys and their types (files/rundir/reader.h explains their meaning), and the points (how many, their
 * order, the number of their settings).
 * Code that reads other nested values checks these, because files are not trusted.
 */
#ifndef KBLAT_RUNDIR_SCHEMA_H
#define KBLAT_RUNDIR_SCHEMA_H

#include <jansson.h>

struct err;

enum document { DOC_RUN, DOC_RESOLVED, DOC_PARAMS, DOC_POINT, DOC_COUNTERS, DOC_DATA, DOC_SUMMARY, DOC_CLAIMS };

#define SCHEMA_POINTS_MOST   10000 /* of a run: as many as a spec may have */
#define SCHEMA_SETTINGS_MOST 8192  /* different ones of all points: 64 flows have fewer */

/* The kind of a file in a run directory, by the last component of its path. -1: none of these. */
int schema_document(const char *path);

/* Read and check. NULL and `e` on failure, with STATUS_USAGE if the content is wrong. */
json_t *schema_read(enum document document, const char *path, struct err *e);

#endif
