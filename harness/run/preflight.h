/*
 * What can be known before a run: space for stamps and results, CPUs that may be used. Better said now than in the
 * middle.
 */
#ifndef KBLAT_PREFLIGHT_H
#define KBLAT_PREFLIGHT_H

#include <jansson.h>
#include <stdbool.h>

struct err;

/* `points`: of the spec; `out_dir` exists; `local`: both endpoints run on this machine. */
int preflight(const json_t *points, const char *out_dir, bool local, struct err *e);

/* Messages that all points will send, over all repetitions. */
unsigned long long preflight_messages(const json_t *points);

#endif
