/*
 * What of the runs is compared, and what change would be harmless, from the options in knobs.json.
 */
#ifndef KBLAT_KNOBS_CHOICE_H
#define KBLAT_KNOBS_CHOICE_H

#include "compare/compare_entry.h"
#include "compare/compare_join.h"

struct err;

struct knobs_choice {
	struct compare_choice choice;
	struct compare_rule rule;
	const char **quantities; /* of `choice` */
	struct compare_margin *margins;
};

/* "metric", "quantities", "margins" and "seed" of `options`, which must outlive it. Without quantities p50 and p99 of a
 * series, all of a summary block. STATUS_USAGE where something cannot be compared. choice_free() in either case. */
int choice_read(const json_t *options, struct knobs_choice *c, struct err *e);
void choice_free(struct knobs_choice *c);

#endif
