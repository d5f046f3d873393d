/*
 * One quantity of one point while it is judged: what change of it would be harmless (the margin),
 * what change can be told from noise, and the verdict that follows.
 */
#ifndef KBLAT_COMPARE_ENTRY_H
#define KBLAT_COMPARE_ENTRY_H

#include "compare/compare_join.h"
#include "compare/compare_perm.h"

/* The margin of one quantity, where it is not that of all. */
struct compare_margin {
	const char *key; /* "p99_9" */
	double margin;	 /* a share */
};

struct compare_rule {
	double margin; /* what no one would mind: a share, 0.02 */
	const struct compare_margin *margins;
	size_t margin_count;
	double effect; /* what one would like to see: a share */
	uint64_t seed; /* of relabellings that are drawn */
	double alpha;  /* what false alarms may be: a share, of all looks together */
	enum perm_question question;
	size_t planned; /* units an arm, where this is a look at those there are so far; 0: it is not */
};

struct compare_entry {
	const struct compare_point *point;
	const struct compare_values *values;
	double margin; /* in its own unit */
	const char *margin_from;
	struct perm_quantity *perm;
};

enum { COMPARE_REGRESSION, COMPARE_IMPROVEMENT, COMPARE_EQUIVALENT, COMPARE_UNDECIDED, COMPARE_VERDICTS };
extern const char *const compare_verdicts[COMPARE_VERDICTS];

/* Without `perm`, which the test fills. */
struct compare_entry compare_entry_make(const struct compare_join *j, const struct compare_point *p,
					const struct compare_values *v, const struct compare_rule *rule);

int compare_entry_verdict(const struct compare_entry *t);

/* What 19 of 20 such comparisons in which nothing changed stay below; in the quantity's own unit. */
double compare_entry_noise(const struct compare_entry *t);

/* Can a change of the size of the margin not be told from noise? */
bool compare_entry_is_noisy(const struct compare_entry *t);

/* The smallest change that would have been found with COMPARE_POWER. */
double compare_entry_detectable(const struct compare_entry *t);

/* A row of "quantities" (compare_judge.h); new reference. */
json_t *compare_entry_json(const struct compare_entry *t);

#endif
