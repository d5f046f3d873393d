/*
 * What a user says of a comparison, in words: margins and other shares.
 */
#ifndef KBLAT_COMPARE_OPTIONS_H
#define KBLAT_COMPARE_OPTIONS_H

#include "compare/compare_entry.h"

struct err;

/* "2", "2%", "0.5%": a share, of at most `most` per cent; NULL leaves it as it is. STATUS_USAGE, naming `flag`. */
int compare_read_percent(const char *flag, const char *text, unsigned most, double *share, struct err *e);

/* --margin: "2", that of all; "p99.9=10", that of one quantity of `metric` (NULL: some series). The last
 * one counts. `rule` keeps `margins`, which has room for `count`. */
int compare_read_margins(const char *const *texts, size_t count, const char *metric, struct compare_rule *rule,
			 struct compare_margin *margins, struct err *e);

#endif
