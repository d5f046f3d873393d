/*
 * The one table of what is said of a series: analysis/statistics.def, a row each. Whoever prints,
 * exports, compares or claims a statistic takes its key, its label and its place in the order from
 * here.
 */
#ifndef KBLAT_ANALYSIS_STATISTICS_H
#define KBLAT_ANALYSIS_STATISTICS_H

#include <jansson.h>

#include "analysis/stats.h"

/* What a number is measured in; also of summary blocks (analysis/blocks.h). */
enum measure {
	MEASURE_SERIES, /* as the series: its name carries the unit ("lat_ns") */
	MEASURE_SHARE,	/* of 1 */
	MEASURE_COUNT,
	MEASURE_RATE, /* a second */
	MEASURE_BYTES,
	MEASURE_BYTE_RATE, /* bytes a second */
	MEASURE_RATIO,	   /* plain */
};

/* What repetitions say together. */
enum over_reps {
	OVER_REPS_SPREAD, /* each is a sample of the same thing */
	OVER_REPS_SUM,
	OVER_REPS_MIN,
	OVER_REPS_MAX,
};

#define SHOWN_TABLE  1u /* in the table at the end of a run */
#define SHOWN_REPORT 2u /* in the page's table of numbers */

struct statistic {
	const char *key;   /* in summary.json, CSV and claims: "p99_9" */
	const char *label; /* for people: "p99.9" */
	const char *help;  /* what it is, in a phrase */
	enum measure measure;
	enum over_reps over_reps;
	unsigned shown; /* SHOWN_TABLE | SHOWN_REPORT */
	/* which column of the table can be left out first: text_table_add()'s; 0: none */
	unsigned spare;
	/* in the joint test of a comparison (docs/compare.md); 0: it is not compared */
	double weight;
	unsigned quantile; /* index in struct stats' quantiles; QUANTILES: it is none */
	json_t *(*get)(const struct stats *s, unsigned quantile); /* null where there is no value */
};

enum {
#define STATISTIC(id, ...) STATISTIC_##id,
#define QUANTILE(id, ...)  STATISTIC_P##id,
#include "analysis/statistics.def"
#undef STATISTIC
#undef QUANTILE
	STATISTICS
};

extern const struct statistic statistics[STATISTICS];

/* Beside the statistics of a series that subtracts stamps of two hosts' clocks: by how much all of them may be wrong,
 * in the same direction. */
#define CLOCK_ERROR_KEY	 "clock_error_ns"
#define CLOCK_ERROR_HELP "bound of the error of the clock between the two hosts"

/* The row of a key, or of a label: people write "p99.9", too. NULL if there is none. */
const struct statistic *statistic_find(const char *name);

/* The label of a key; the key itself where there is no such statistic. */
const char *statistic_label(const char *key);

/* {"n", "lost", "min", "p50", ..., "over_limit"}, as in summary.json: a new reference. */
json_t *statistics_json(const struct stats *s);

#endif
