/*
 * Summary blocks: what is known of a flow beside its series, such as how its pacer kept its rate.
 * The one table: the point's summary, CSV, tables, claims, reports, comparisons and histories take
 * blocks and their statistics from here. A new block is a file that defines it and a row in
 * blocks.c.
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
	const char *help;  /* what it is, in a phrase */
	enum measure measure;
	bool in_csv;	/* a column of summary.csv */
	unsigned shown; /* SHOWN_TABLE: a column of the table at the end of a run */
	unsigned spare; /* as in struct statistic */
	int worse;	/* 1: more of it is worse, -1: less is, 0: neither, so it is not compared */
};

struct block {
	/* in summary.json, and before a dot in claims: "pacing"; of a flow "small.pacing" */
	const char *name;
	bool in_reps; /* said of each repetition, too */
	/* Said of all flows of a point together, without a flow's name, and of each of them. */
	bool of_point;
	/* Of these repetitions together: an object with the statistics, null where there is no
	 * value, and whatever else explains them. NULL: such a flow has no such block. `granted`:
	 * what both sides' transports say that they were given (point.json), or NULL. Without this
	 * function the block is added by whoever summarises the point. */
	json_t *(*make)(const struct layout_flow *f, const struct rep *reps, size_t count, const json_t *granted);
	const struct block_statistic *statistics; /* key NULL ends; in the order of columns */
};

extern const struct block *const blocks[]; /* NULL ends */

/* By its name; NULL if there is none. */
const struct block *block_find(const char *name);
const struct block_statistic *block_statistic_find(const struct block *b, const char *key);

#endif
