/*
 * The only table of the statistics of a series: judge/analysis/statistic_rows.def has a row for each. All
 * code that prints, exports or compares statistics, or checks claims about them, takes their keys,
 * labels and order from here.
 */
#ifndef KBLAT_ANALYSIS_STATISTICS_H
#define KBLAT_ANALYSIS_STATISTICS_H

#include <jansson.h>
#include <stdbool.h>

#include "common/measure.h"
#include "judge/analysis/stats.h"

/* A number of a result. JSON tells integers from others, so they are told apart here, too. */
enum number_kind {
	NUMBER_ABSENT, /* an earlier version did not have it */
	NUMBER_NONE,   /* no value: too few samples, or nothing that counts it */
	NUMBER_INTEGER,
	NUMBER_REAL,
};

struct number {
	enum number_kind kind;
	union {
		json_int_t integer;
		double real;
	};
};

struct number number_none(void);
struct number number_integer(json_int_t value);
struct number number_real(double value); /* none if it is not finite */

bool number_is_known(struct number n);
double number_value(struct number n);	  /* NAN if it is not known */
double number_or_zero(struct number n);	  /* likewise 0 */
json_int_t number_count(struct number n); /* of an integer; otherwise 0 */

/* In files: NULL for an absent one, null for none. The first one returns a new reference. */
json_t *number_encode(struct number n);
struct number number_decode(const json_t *value);

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
	/* how readily the table leaves out its column: as in struct table_column (common/table.h); 0: never */
	unsigned drop_order;
	/* in the joint test of a comparison (docs/compare.md); 0: not compared */
	double weight;
	/* the largest change of it that a comparison takes for harmless unless another one is asked for, as a share of
	 * its value; and of a share, the difference that is harmless however small the share is */
	double margin, margin_own;
	unsigned quantile; /* index in struct stats' quantiles; QUANTILES: it is not a quantile */
	struct number (*get)(const struct stats *s, unsigned quantile);
};

enum {
#define STATISTIC(id, ...) STATISTIC_##id,
#define QUANTILE(id, ...)  STATISTIC_P##id,
#include "judge/analysis/statistic_rows.def"
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

/* All of them, by row. */
void statistics_of(const struct stats *s, struct number out[STATISTICS]);

/* {"n", "lost", "min", "p50", ..., "over_limit"}, as in files: a new reference. */
json_t *statistics_encode(const struct number values[STATISTICS]);
void statistics_decode(const json_t *object, struct number out[STATISTICS]);

/* Both in one. */
json_t *statistics_json(const struct stats *s);

#endif
