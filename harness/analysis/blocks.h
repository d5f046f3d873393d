/*
 * Summary blocks: what is known about a flow besides its series, such as how well its pacer kept
 * its rate. This is the only table of them: the point's summary, CSV, tables, claims, reports,
 * comparisons and histories all take blocks and their statistics from here. To add a block, add a
 * file that defines it and a row in blocks.c.
 */
#ifndef KBLAT_ANALYSIS_BLOCKS_H
#define KBLAT_ANALYSIS_BLOCKS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "analysis/statistics.h"
#include "rundir/rep.h"

/* One number of a block. */
struct block_statistic {
	const char *key;   /* in the block's JSON, CSV and claims: "missed_share" */
	const char *label; /* for people: "% missed" */
	const char *help;  /* its meaning, in a phrase */
	enum measure measure;
	bool in_csv;	/* a column of summary.csv */
	unsigned shown; /* SHOWN_TABLE: a column of the table at the end of a run */
	unsigned spare; /* as in struct statistic */
	int worse;	/* 1: more is worse; -1: less is worse; 0: neither, so it is not compared */
};

struct block {
	/* in summary.json, and in claims before the dot: "pacing"; for a flow "small.pacing" */
	const char *name;
	bool in_reps; /* also given for each repetition */
	/* Given both for all flows of a point together, without a flow's name, and for each flow. */
	bool of_point;
	/* Makes the block of these repetitions together: an object with the statistics, null where
	 * there is no value, and anything else that explains them. NULL: flows of this kind have no
	 * such block. `granted`: what both sides' transports report that they were given
	 * (point.json), or NULL. If a block does not have this function, the code that summarises
	 * the point adds it. */
	json_t *(*make)(const struct layout_flow *f, const struct rep *reps, size_t count, const json_t *granted);
	const struct block_statistic *statistics; /* in the order of columns; ends with a key of NULL */
};

extern const struct block *const blocks[]; /* NULL ends */

/* Find a block by its name; NULL if there is none. */
const struct block *block_find(const char *name);
const struct block_statistic *block_statistic_find(const struct block *b, const char *key);

#endif
