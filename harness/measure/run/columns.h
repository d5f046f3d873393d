/*
 * Stores columns received from an endpoint in the run directory.
 */
#ifndef KBLAT_RUN_COLUMNS_H
#define KBLAT_RUN_COLUMNS_H

#include "measure/run/session.h"

/* Stores the bytes that follow a "done" in files below `dir`. Their names come from outside, so they must be those of
 * the kernel's columns on that side. */
int columns_store(struct peer *p, const json_t *done, uint32_t messages, const char *dir, struct err *e);

/* With `explain` the columns are followed by the events of that side, stored in trace-<side>.npy and
 * trace-<side>.json. `asked`: this repetition may have them. */
int columns_store_trace(struct peer *p, json_t *done, bool asked, const char *dir, struct err *e);

/* For a repetition that was stopped early: removes the entries of messages that were never sent, as these are not
 * lost. */
int columns_shorten(const json_t *done, const char *dir, uint64_t count, struct err *e);

#endif
