/*
 * Verdicts of a comparison: on one quantity of one point (which changes of it are harmless, the
 * margin; which can be distinguished from noise), on several quantities together, and the answer to
 * "did it become slower?". Here is the only rule for the latter two, for `kblat compare`, its A/A
 * test and knobs. And how many units (boots or runs) each arm needs. Pure.
 */
#ifndef KBLAT_COMPARE_VERDICT_H
#define KBLAT_COMPARE_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"
#include "judge/compare/compare_join.h"
#include "judge/compare/compare_rule.h"
#include "judge/compare/comparison.h"

#define COMPARE_POWER 0.85 /* for "how many boots are needed" */
#define COMPARE_UNITS 4	   /* per arm */
#define COMPARE_PAIRS 6	   /* with fewer, even the most extreme of all 2^n relabellings is not rare enough */

/* --- what is asked for --- */

/* --- one quantity of one point --- */

struct compare_entry {
	const struct compare_point *point;
	const struct compare_values *values;
	double margin; /* in the unit of the quantity */
	double step;   /* likewise: values that differ by less may be the same; 0: none is known */
	bool decides;
	struct perm_quantity *perm;
	/* Of arms that were measured one after the other: what values drift within the arms makes so much of the effect. Student's
	 * t of that, and of the rest; 0 degrees of freedom: not known. */
	double drift, drift_t, rest_t, drift_df;
};

/* Leaves out `perm`, which the test fills in. */
struct compare_entry compare_entry_make(const struct compare_join *j, const struct compare_point *p,
					const struct compare_values *v, const struct compare_rule *rule);

/* Fills in what it has of drifts, once it has been tested. */
void compare_entry_find_drift(struct compare_entry *t, const struct perm_plan *p);

/* Is it decided by what may all be a drift, or hidden by one? Then it is undecided. */
bool compare_entry_is_by_drift(const struct compare_entry *t);

enum compare_verdict compare_entry_verdict(const struct compare_entry *t);

/* The result of one that has been tested. `metric`: of the comparison's point, which it points to. */
struct comparison_quantity compare_entry_quantity(const struct compare_entry *t, const char *metric);

/* --- several quantities --- */

/* What counts of one quantity. */
struct verdict_one {
	enum compare_verdict verdict;
	bool may_be_worse, noisy, decides;
};

struct verdict_one compare_entry_one(const struct compare_entry *t);

/* Verdicts on quantities. */
struct verdict_counts {
	size_t count[COMPARE_VERDICTS];
	size_t open;  /* they decide, are undecided, and may be worse by more than the margin */
	size_t shown; /* the same, but they do not decide */
	size_t noisy; /* they decide, and can only pass as improvements */
};

/*
 * A change that is found counts, whatever quantity it is of, because the joint test allows for all of them. Of those
 * that are undecided, only those that decide count: it is they that must be resolved.
 */
void compare_verdict_count(struct verdict_counts *t, struct verdict_one one);

/* One that decides, but could not be compared. */
void compare_verdict_count_missing(struct verdict_counts *t);

/* A change of any quantity decides; without one, undecided quantities do (or that there are none). */
enum compare_verdict compare_verdict_overall(const struct verdict_counts *t);

/*
 * Did it become slower? It did if the overall verdict says so, and did not if no quantity is left
 * open: an improvement of one does not show that the others have not become worse. If noise is larger than the margin of
 * one that decides, all decide: the machine is too noisy for any to be passed over.
 */
enum compare_outcome compare_verdict_outcome(const struct verdict_counts *t);

/* STATUS_OK, STATUS_NO or STATUS_UNDECIDED. */
enum status compare_verdict_status(enum compare_outcome outcome);

/* --- how many units are needed --- */

#define BOOTS_MOST 1000

/* The value that Student's t with `df` >= 2 degrees of freedom exceeds with probability `tail` (0 <
 * tail < 1/2); within 1 % of the true one for tail >= 1e-4. */
double boots_student(double tail, double df);

/*
 * The number of units per arm, at least `least`, that detect a shift of `effect` with probability
 * `power`, where `tail` is the probability of a false alarm in the direction of the shift, and
 * `stdev` the standard deviation of the units of one arm. BOOTS_MOST if even that many do not.
 */
size_t boots_needed(double effect, double stdev, double tail, double power, size_t least);

/* The minimum number of units per arm for a verdict. */
size_t compare_units_least(const struct compare_runs *runs);

/* The number that detects the effect asked for, at the point that needs most. */
struct comparison_needed compare_needed(const struct compare_join *j, const struct compare_rule *rule);

/* --- when there may be a verdict --- */

/*
 * Interim looks at a comparison while units (boots or runs) are still being measured: it ends at
 * the first look that decides. Each look may use a part of alpha, and the parts add up to alpha. So
 * the probability that any of them gives a false alarm is at most alpha, however the looks depend
 * on each other (Bonferroni). The last look has the largest part, so that little power is lost if
 * all units are needed.
 */
#define LOOKS_MOST 3

struct look {
	size_t units; /* of each arm */
	double level; /* the part of alpha that it may use */
};

/*
 * The looks of a plan of `planned` units per arm, the last one at all of them. `least`: the
 * smallest number of units that allows a verdict. A look at which nothing could be found at its
 * level is left out, and its part goes to the last one. Returns the number of looks.
 */
size_t compare_looks(size_t planned, size_t least, bool pairs, double alpha, struct look looks[LOOKS_MOST]);

#endif
