/*
 * The quantities of a metric that are compared: for a series, the statistics that have a weight
 * (analysis/statistics.h); for a summary block, those of which more or less is worse
 * (analysis/blocks.h). A metric is the name of a series or block, preceded by the flow's name if it
 * has one: "lat_ns", "small.lat_ns", "pacing", "small.pacing".
 */
#ifndef KBLAT_COMPARE_QUANTITY_H
#define KBLAT_COMPARE_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/blocks.h"

struct err;

struct compare_quantity {
	const char *key, *label; /* in summary.json; for people */
	enum measure measure;
	double weight; /* of its statistic in the joint test (docs/compare.md) */
	bool less_is_worse;
};

/* The block that a metric names, or NULL if it is a series, or a block without quantities that can
 * be compared. `metric` may be NULL. */
const struct block *compare_quantity_block(const char *metric);

/* All quantities of a metric, or of any series if `metric` is NULL; at least one. The caller frees. */
struct compare_quantity *compare_quantity_list(const char *metric, size_t *count);

/* The names as a user writes them, with `last` before the last one: "p50, p90, p99, p99.9 or
 * over_limit" if it is " or ". The caller frees. */
char *compare_quantity_names(const char *metric, const char *last);

/* Find the key for a user's "p99_9" or "p99.9". If there is none: STATUS_USAGE, with a message that
 * names `flag` and the existing quantities. */
int compare_quantity_find(const char *flag, const char *metric, const char *name, const char **key, struct err *e);

/* Split "pacing.missed_share" into the block "pacing", which is returned and which the caller
 * frees, and its quantity "missed_share", which points into `metric`. NULL for all other metrics. */
char *compare_quantity_split(const char *metric, const char **quantity);

/* "p99.9" for "p99_9". */
const char *compare_quantity_label(const char *key);

/* Two significant digits, but all digits before the decimal point: "1.4", "3830". */
const char *compare_quantity_rounded(double value, char *text, size_t size);

/* "ns" for a quantile of a series, "share"; "" for a count. */
const char *compare_quantity_unit(const struct compare_quantity *q, const char *metric);

#endif
