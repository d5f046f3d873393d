/*
 * One repetition on disk: its columns, mapped, and its counters.
 */
#ifndef KBLAT_ANALYSIS_REP_H
#define KBLAT_ANALYSIS_REP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "analysis/stats.h"
#include "rundir/layout.h"
#include "rundir/npy.h"

struct rep {
	unsigned number;
	bool is_whole; /* every column is there; if not, none is open */
	struct npy columns[LAYOUT_COLUMNS];
	json_t *counters; /* NULL if there are none */
};

/* What a repetition leaves in its data.json holds at most so many bins a series (histogram_compute). */
#define REP_BINS 16384

/* The numbers of the rep-<nn> of a point, rising; the caller frees. A point without a directory has none. */
int rep_list(const char *run_path, unsigned point, unsigned **numbers, size_t *count, struct err *e);

/*
 * Open for reading. A column or counters that are missing are no error: a killed run leaves such (without counters,
 * what was never sent is left out at the end). One that is damaged is, and so are columns of different lengths.
 */
int rep_open(const char *run_path, const struct layout *l, unsigned number, struct rep *out, struct err *e);
void rep_close(struct rep *r);

/* The difference of columns that a series is. The repetition must be whole. */
struct span rep_span(const struct rep *r, const struct layout_series *s);

/* The messages that a series has no entry for, because its `among` never happened. */
uint64_t rep_absent(const struct rep *r, const struct layout_series *s);

/* What data.json must say. New reference, or NULL. */
json_t *rep_data(const char *run_path, const struct layout *l, unsigned number, struct err *e);

#endif
