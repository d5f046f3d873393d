/*
 * One quantity of one point while it is judged: which changes of it are harmless (the margin),
 * which can be distinguished from noise, and the resulting verdict.
 */
#ifndef KBLAT_COMPARE_ENTRY_H
#define KBLAT_COMPARE_ENTRY_H

#include "compare/compare_join.h"
#include "compare/compare_perm.h"

/* The margin of one quantity, if it differs from the general one. */
struct compare_margin {
	const char *key; /* "p99_9" */
	double margin;	 /* a share */
};

struct compare_rule {
	double margin; /* the largest change that is harmless: a share, such as 0.02 */
	const struct compare_margin *margins;
	size_t margin_count;
	double effect; /* the smallest change that should be detected: a share */
	uint64_t seed; /* for drawing relabellings */
	double alpha;  /* probability of a false alarm, for all interim looks together */
	enum perm_question question;
	size_t planned; /* if this is an interim look, the planned units per arm; otherwise 0 */
};

struct compare_entry {
	const struct compare_point *point;
	const struct compare_values *values;
	double margin; /* in the unit of the quantity */
	const char *margin_from;
	struct perm_quantity *perm;
};

enum { COMPARE_REGRESSION, COMPARE_IMPROVEMENT, COMPARE_EQUIVALENT, COMPARE_UNDECIDED, COMPARE_VERDICTS };
extern const char *const compare_verdicts[COMPARE_VERDICTS];

/* Leaves out `perm`, which the test fills in. */
struct compare_entry compare_entry_make(const struct compare_join *j, const struct compare_point *p,
					const struct compare_values *v, const struct compare_rule *rule);

int compare_entry_verdict(const struct compare_entry *t);

/* The change that 19 of 20 such comparisons stay below if nothing has changed; in the quantity's own unit. */
double compare_entry_noise(const struct compare_entry *t);

/* Is a change of the size of the margin impossible to distinguish from noise? */
bool compare_entry_is_noisy(const struct compare_entry *t);

/* The smallest change that would have been detected with probability COMPARE_POWER. */
double compare_entry_detectable(const struct compare_entry *t);

/* A row of "quantities" (compare_judge.h); new reference. */
json_t *compare_entry_json(const struct compare_entry *t);

#endif
