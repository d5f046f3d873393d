/*
 * Columns of stamps: .npy files in a scratch directory on tmpfs (/dev/shm). They are mapped, prefaulted, locked, and on
 * the right NUMA node, so that recording a stamp is just a store. A stamp takes eight bytes; nothing else grows with
 * the number of messages. Entries are NEVER until they are written.
 *
 * Each column has one writer thread. The scratch directory is private (0700) and called
 * kblat-<uid>-<pid>-<name><random>; a run that is killed leaves its stamps there, which NumPy can read.
 */
#ifndef KBLAT_INSTRUMENT_RECORDER_H
#define KBLAT_INSTRUMENT_RECORDER_H

#include <stdint.h>

#include "measure/instrument/clock.h"
#include "measure/instrument/memory.h"

#define RECORDER_COLUMNS 10

struct recorder_column {
	char name[32];
	struct memory memory; /* NPY_HEADER bytes, then the entries */
	int64_t *data;
};

struct recorder {
	char dir[256]; /* "" until opened */
	uint64_t capacity;
	bool touch; /* no: recording touches pages for the first time; entries are 0 instead of NEVER until written */
	unsigned columns;
	struct recorder_column column[RECORDER_COLUMNS];
};

/* Create the scratch directory, whose name contains `name`, and `count` columns of `capacity` entries. If tmpfs is too
 * small: STATUS_FAILED, with the space that is missing. */
int recorder_open(struct recorder *r, const char *name, const char *const *names, unsigned count, uint64_t capacity,
		  bool touch, int node, struct err *e);

/* Discard what was recorded: sets all entries to NEVER (or, without touching, returns the pages to the system). */
void recorder_reset(struct recorder *r);

/* The value of an entry before it is written. */
int64_t recorder_blank(const struct recorder *r);

/* Convert a column in place from ticks to nanoseconds since t0; entries that were not written become NEVER. */
void recorder_convert_column(struct recorder *r, unsigned column, const struct clock_conversion *c, uint64_t count);

/* Unmap and remove everything. */
void recorder_close(struct recorder *r);

#endif
