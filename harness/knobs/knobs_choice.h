/*
 * Which quantities of the runs are compared, and which changes are harmless, from the options in
 * knobs.json.
 */
#ifndef KBLAT_KNOBS_CHOICE_H
#define KBLAT_KNOBS_CHOICE_H

#include "compare/compare_entry.h"
#include "compare/compare_join.h"

struct err;

struct knobs_choice {
	struct compare_choice choice;
	struct compare_rule rule;
	const char **quantities; /* used by `choice` */
	struct compare_margin *margins;
};

/* Read "metric", "quantities", "margins" and "seed" of `options`, which must outlive `c`. Default
 * quantities are p50 and p99 for a series, and all for a summary block. STATUS_USAGE if something
 * cannot be compared. Call choice_free() in any case. */
int choice_read(const json_t *options, struct knobs_choice *c, struct err *e);
void choice_free(struct knobs_choice *c);

#endif
