/*
 * One repetition of one flow on disk: its columns, mapped, and its counters.
 */
#ifndef KBLAT_RUNDIR_REP_H
#define KBLAT_RUNDIR_REP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/npy.h"
#include "files/rundir/layout.h"

struct rep {
	unsigned number;
	char *dir;     /* its folder */
	bool is_whole; /* all columns exist; if not, none is open */
	unsigned column_count;
	struct npy *columns; /* as in the layout */
	json_t *counters;    /* NULL if there are none */
};

/* The numbers of a point's rep-<nn>, in ascending order; the caller frees. A point without a directory has none. Another
 * spelling, such as rep-1, is an error. */
int rep_list(const char *run_path, unsigned point, unsigned **numbers, size_t *count, struct err *e);

/*
 * Open for reading. Missing columns or counters are not an error, because a killed run may lack them (without counters,
 * entries of messages that were never sent are removed at the end). Damaged ones are an error, and so are columns of
 * different lengths.
 */
int rep_open(const char *run_path, const struct layout_flow *f, unsigned number, struct rep *out, struct err *e);

/* Release it. -EIO if a column was shortened, or could not be read, since it was opened: what was computed from it is
 * wrong. */
int rep_close(struct rep *r, struct err *e);

/* All complete repetitions of a flow, in order. Release each with rep_close() and the list with free(), even on
 * failure. */
int rep_open_all(const char *run_path, const struct layout_flow *f, struct rep **reps, size_t *count, struct err *e);

/* A counter of a side ("source", "sink"); 0 if it is not known or not a number. */
json_int_t rep_counter(const struct rep *r, const char *side, const char *name);

#endif
