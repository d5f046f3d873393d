/*
 * Columns of stamps: .npy files in a scratch directory on tmpfs (/dev/shm), mapped, prefaulted, locked, on the right
 * NUMA node, so that a store is a store. Eight bytes a stamp; nothing else grows with the number of messages. Entries
 * are NEVER until they are written.
 *
 * One writer thread a column. The scratch directory is private (0700) and named kblat-<uid>-<pid>-<name><random>; a run that
 * is killed leaves its stamps there, readable by NumPy.
 */
#ifndef KBLAT_INSTRUMENT_RECORDER_H
#define KBLAT_INSTRUMENT_RECORDER_H

#include <stdint.h>

#include "instrument/clock.h"
#include "instrument/memory.h"

#define RECORDER_COLUMNS 8

struct recorder_column {
	char name[32];
	struct memory memory; /* NPY_HEADER bytes, then the entries */
	int64_t *data;
};

struct recorder {
	char dir[256]; /* "" until opened */
	uint64_t capacity;
	bool touch; /* no: pages are first touched by the stamps themselves; an entry is 0 until written, not NEVER */
	unsigned columns;
	struct recorder_column column[RECORDER_COLUMNS];
};

/* Make the scratch directory, which has `name` in its own, and `count` columns of `capacity` entries. STATUS_FAILED and how much is missing if tmpfs
 * is too small. */
int recorder_open(struct recorder *r, const char *name, const char *const *names, unsigned count, uint64_t capacity,
		  bool touch, int node, struct err *e);

/* Forget what was recorded: all NEVER (or, untouched, given back to the system). */
void recorder_reset(struct recorder *r);

/* What an entry is before it is written. */
int64_t recorder_blank(const struct recorder *r);

/* Of one column: ticks -> nanoseconds since t0, in place; what was not written becomes NEVER. */
void recorder_convert_column(struct recorder *r, unsigned column, const struct clock_conversion *c, uint64_t count);

/* Unmap and remove everything. */
void recorder_close(struct recorder *r);

#endif
