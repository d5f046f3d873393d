/*
 * Parses a user's options for a comparison: margins and other shares.
 */
#ifndef KBLAT_COMPARE_OPTIONS_H
#define KBLAT_COMPARE_OPTIONS_H

#include "compare/compare_entry.h"

struct err;

/* Read "2", "2%" or "0.5%" as a share of at most `most` per cent; a text of NULL leaves `share`
 * unchanged. The error is STATUS_USAGE and names `flag`. */
int compare_read_percent(const char *flag, const char *text, unsigned most, double *share, struct err *e);

/* --margin: "2" is the general margin; "p99.9=10" that of one quantity of `metric` (NULL: any
 * series). If one is given twice, the last one counts. `rule` will point to `margins`, which has
 * room for `count`. */
int compare_read_margins(const char *const *texts, size_t count, const char *metric, struct compare_rule *rule,
			 struct compare_margin *margins, struct err *e);

#endif
