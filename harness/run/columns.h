/*
 * Columns as they come from an endpoint, into the run directory.
 */
#ifndef KBLAT_RUN_COLUMNS_H
#define KBLAT_RUN_COLUMNS_H

#include "run/session.h"

/* The bytes that follow a "done", into files below `dir`. Their names come from outside: only those that the kernel has
 * become files. */
int columns_store(struct peer *p, const json_t *done, uint32_t messages, const char *dir, struct err *e);

/* With `explain` they are followed by the events of that side: trace-<side>.npy, and trace-<side>.json. */
int columns_store_trace(struct peer *p, json_t *done, const char *dir, struct err *e);

/* Of a repetition that was stopped: what was never sent is not lost, so its entries go. */
int columns_shorten(const json_t *done, const char *dir, uint64_t count, struct err *e);

#endif
