/*
 * What of a metric is compared: the statistics of a series that have a weight
 * (analysis/statistics.h), or of a summary block those of which more, or less, is worse
 * (analysis/blocks.h). A metric is the name of either, of a flow with its name in front: "lat_ns",
 * "small.lat_ns", "pacing", "small.pacing".
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

/* The block that a metric names, or NULL: it is a series (or a block of which nothing can be
 * compared). `metric` may be NULL. */
const struct block *compare_quantity_block(const char *metric);

/* All of a metric, of some series' (NULL) likewise; at least one. The caller frees. */
struct compare_quantity *compare_quantity_list(const char *metric, size_t *count);

/* "p50, p90, p99, p99.9 or over_limit", with `last` " or ": as a user writes them. The caller
 * frees. */
char *compare_quantity_names(const char *metric, const char *last);

/* The key of what a user calls "p99_9" or "p99.9". STATUS_USAGE, naming `flag` and those there
 * are. */
int compare_quantity_find(const char *flag, const char *metric, const char *name, const char **key, struct err *e);

/* "pacing.missed_share" is the block "pacing", returned for the caller to free, and its quantity
 * "missed_share", which points into `metric`. NULL for all other metrics. */
char *compare_quantity_split(const char *metric, const char **quantity);

/* "p99.9" of "p99_9". */
const char *compare_quantity_label(const char *key);

/* Two digits without an exponent: "1.4", "3830". */
const char *compare_quantity_rounded(double value, char *text, size_t size);

/* "ns" of a series' quantile, "share"; "" of a count. */
const char *compare_quantity_unit(const struct compare_quantity *q, const char *metric);

#endif
