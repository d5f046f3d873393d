/*
 * The only table of the statistics of a series: analysis/statistics.def has a row for each. All
 * code that prints, exports or compares statistics, or checks claims about them, takes their keys,
 * labels and order from here.
 */
#ifndef KBLAT_ANALYSIS_STATISTICS_H
#define KBLAT_ANALYSIS_STATISTICS_H

#include <jansson.h>

#include "analysis/stats.h"

/* The unit of a number; also for summary blocks (analysis/blocks.h). */
enum measure {
	MEASURE_SERIES, /* that of the series, whose name ends with the unit ("lat_ns") */
	MEASURE_SHARE,	/* 0 to 1 */
	MEASURE_COUNT,
	MEASURE_RATE, /* per second */
	MEASURE_BYTES,
	MEASURE_BYTE_RATE, /* bytes per second */
	MEASURE_RATIO,	   /* dimensionless */
};

/* How the value for all repetitions relates to that of each. */
enum over_reps {
	OVER_REPS_SPREAD, /* each is a sample of the same thing */
	OVER_REPS_SUM,
	OVER_REPS_MIN,
	OVER_REPS_MAX,
};

#define SHOWN_TABLE  1u /* in the table at the end of a run */
#define SHOWN_REPORT 2u /* in the report's table of numbers */

struct statistic {
	const char *key;   /* in summary.json, CSV and claims: "p99_9" */
	const char *label; /* for people: "p99.9" */
	const char *help;  /* its meaning, in a phrase */
	enum measure measure;
	enum over_reps over_reps;
	unsigned shown; /* SHOWN_TABLE | SHOWN_REPORT */
	/* how readily the table leaves out its column: as in text_table_add(); 0: never */
	unsigned spare;
	/* in the joint test of a comparison (docs/compare.md); 0: not compared */
	double weight;
	unsigned quantile; /* index in struct stats' quantiles; QUANTILES: it is not a quantile */
	json_t *(*get)(const struct stats *s, unsigned quantile); /* JSON null if there is no value */
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

/* Given with the statistics of a series that subtracts stamps of two hosts' clocks: the maximum
 * error of all of them, in the same direction. */
#define CLOCK_ERROR_KEY	 "clock_error_ns"
#define CLOCK_ERROR_HELP "bound of the error of the clock between the two hosts"

/* Find a row by its key or by its label, because people write "p99.9", too. NULL if there is none. */
const struct statistic *statistic_find(const char *name);

/* The label of a key; the key itself if there is no such statistic. */
const char *statistic_label(const char *key);

/* {"n", "lost", "min", "p50", ..., "over_limit"}, as in summary.json: a new reference. */
json_t *statistics_json(const struct stats *s);

#endif
