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

#include "files/rundir/rep.h"
#include "judge/analysis/statistics.h"

struct summary_block;

/* One number of a block. */
struct block_statistic {
	const char *key;   /* in the block's JSON, CSV and claims: "missed_share" */
	unsigned number;   /* its index among the block's numbers, in the order of the file */
	const char *label; /* for people: "% missed" */
	const char *help;  /* its meaning, in a phrase */
	enum measure measure;
	bool in_csv;	     /* a column of summary.csv */
	unsigned shown;	     /* SHOWN_TABLE: a column of the table at the end of a run */
	unsigned drop_order; /* as in struct statistic */
	int worse;	     /* 1: more is worse; -1: less is worse; 0: neither, so it is not compared */
};

struct block {
	/* in summary.json, and in claims before the dot: "pacing"; for a flow "small.pacing" */
	const char *name;
	bool in_reps; /* also given for each repetition */
	/* Given both for all flows of a point together, without a flow's name, and for each flow. */
	bool of_point;
	/* Makes the block of these repetitions together: sets all numbers of `out`, and anything else that explains
	 * them. False: flows of this kind have no such block, and `out` is as it was. `granted`: what both sides'
	 * transports report that they were given (point.json), or NULL. If a block does not have this function, the
	 * code that summarises the point adds it. */
	bool (*make)(const struct layout_flow *f, const struct rep *reps, size_t count, const json_t *granted,
		     struct summary_block *out);
	const struct block_statistic *statistics; /* in the order of columns; ends with a key of NULL */
	const struct block_statistic *facts;	  /* further numbers, in the file only: keys; NULL: there are none */
};

extern const struct block *const blocks[]; /* NULL ends */
extern const struct block pacing_block, storing_block, bandwidth_block, overhead_block, processor_block, work_block,
    fairness_block, causes_block, pattern_block, stages_block;

#define BLOCK_NUMBERS 16 /* of a block at most */

/* The numbers of each block, in the order of the file. */
enum pacing_number {
	PACING_ASKED_HZ,
	PACING_ACHIEVED_HZ,
	PACING_STEPS,
	PACING_MISSED,
	PACING_MISSED_SHARE,
	PACING_UNSENT,
	PACING_UNSENT_SHARE,
	PACING_MISSING,
	PACING_MISSING_SHARE,
	PACING_NOT_TRANSMITTED,
	PACING_NOT_TRANSMITTED_SHARE
};
enum bandwidth_number {
	RATE_MESSAGES_PER_S,
	RATE_BYTES_PER_S,
	RATE_DELIVERED_BYTES_PER_S,
	RATE_LINK_BITS_PER_S,
	RATE_LINK_SHARE
};
enum overhead_number { WIRE_PAYLOAD_BYTES, WIRE_RAW_BYTES, WIRE_FACTOR, WIRE_PERCENT, WIRE_BYTES_PER_S };
enum processor_number {
	CPU_SOURCE_SHARE,
	CPU_SINK_SHARE,
	CPU_MACHINE_CPUS,
	CPU_SOURCE_NS,
	CPU_SINK_NS,
	CPU_SOURCE_CYCLES,
	CPU_SINK_CYCLES
};
enum work_number { WORK_SLOWDOWN, WORK_SHARE, WORK_UNITS_PER_S, WORK_ALONE_PER_S };
enum storing_number { STORED_BYTES, STORED_BYTES_PER_S, STORED_WRITE_BYTES_PER_S, STORED_WAITS };
enum fairness_number {
	FAIRNESS_FROM_NS,
	FAIRNESS_TO_NS,
	FAIRNESS_SHARE,
	FAIRNESS_QUANTUM_SHARE,
	FAIRNESS_BYTES_PER_S,
	FAIRNESS_DONE_MESSAGES,
	FAIRNESS_JAIN,
	FAIRNESS_JAIN_MIN,
	FAIRNESS_SPREAD_NS
};
enum stages_number {
	STAGES_STACK_NS,
	STAGES_QUEUE_NS,
	STAGES_WIRE_NS,
	STAGES_READ_NS,
	STAGES_SOCKET_NS, /* the parts of STAGES_READ_NS, if they are known */
	STAGES_TAKE_NS,
	STAGES_MESSAGES
};
enum causes_number {
	CAUSES_MESSAGES,
	CAUSES_EXPLAINED,
	CAUSES_EXPLAINED_SHARE,
	CAUSES_NOT_KNOWN,
	CAUSES_TYPICAL_SHARE,
	CAUSES_EVENTS_LOST,
	CAUSES_P50_RATIO,
	CAUSES_P99_RATIO
};
enum pattern_number {
	PATTERN_PERIOD,
	PATTERN_STRENGTH,
	PATTERN_BASE_NS,
	PATTERN_HIGH_NS,
	PATTERN_HIGH_FIRST,
	PATTERN_HIGH_LAST,
	PATTERN_ENTRIES,
	PATTERN_LONGEST,
	PATTERN_EVIDENCE,
	PATTERN_THRESHOLD,
	PATTERN_SHUFFLES,
	PATTERN_SEED
};

/* Find a block by its name; NULL if there is none. */
const struct block *block_find(const char *name);
const struct block_statistic *block_statistic_find(const struct block *b, const char *key);

/* The row, or fact, of a number; NULL if the block has fewer. */
const struct block_statistic *block_number_row(const struct block *b, unsigned number);

#endif
