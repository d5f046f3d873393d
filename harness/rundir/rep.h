/*
 * One repetition of one flow on disk: its columns, mapped, and its counters.
 */
#ifndef KBLAT_RUNDIR_REP_H
#define KBLAT_RUNDIR_REP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/npy.h"
#include "rundir/layout.h"

struct rep {
	unsigned number;
	char *dir;     /* its folder */
	bool is_whole; /* every column is there; if not, none is open */
	unsigned column_count;
	struct npy *columns; /* as in the layout */
	json_t *counters;    /* NULL if there are none */
};

/* The numbers of the rep-<nn> of a point, rising; the caller frees. A point without a directory has
 * none. */
int rep_list(const char *run_path, unsigned point, unsigned **numbers, size_t *count, struct err *e);

/*
 * Open for reading. A column or counters that are missing are no error: a killed run leaves such
 * (without counters, what was never sent is left out at the end). One that is damaged is, and so
 * are columns of different lengths.
 */
int rep_open(const char *run_path, const struct layout_flow *f, unsigned number, struct rep *out, struct err *e);
void rep_close(struct rep *r);

/* All whole repetitions of a flow, in order: each for rep_close(), the list for free(), failed or not. */
int rep_open_all(const char *run_path, const struct layout_flow *f, struct rep **reps, size_t *count, struct err *e);

/* What a side ("source", "sink") counted; 0 where that is not known, or no count. */
json_int_t rep_counter(const struct rep *r, const char *side, const char *name);

#endif
