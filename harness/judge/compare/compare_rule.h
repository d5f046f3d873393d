/*
 * What is asked of a comparison before its results are seen: which changes are harmless (margins), which
 * quantities must be resolved for an answer (they decide), how often it may err.
 */
#ifndef KBLAT_COMPARE_RULE_H
#define KBLAT_COMPARE_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "judge/compare/compare_perm.h"
#include "judge/compare/compare_point.h"
#include "judge/compare/comparison.h"

struct compare_choice;
struct err;

#define COMPARE_ALPHA  0.05 /* default */
#define COMPARE_BEYOND 100  /* a run has so many messages beyond each quantile that decides by its size */

/* The margin of one quantity, if it differs from the general one. */
struct compare_margin {
	const char *key; /* "p99_9" */
	double margin;	 /* a share */
};

struct compare_rule {
	double margin; /* the largest change that is harmless: a share, such as 0.02; 0: each quantity's own */
	const struct compare_margin *margins;
	size_t margin_count;
	enum compare_judge_from judge_from; /* which decide */
	const char *const *judge;	    /* their keys, where these are named */
	size_t judge_count;
	double effect; /* the smallest change that should be detected: a share */
	uint64_t seed; /* for drawing relabellings */
	double alpha;  /* probability of a false alarm, for all interim looks together */
	enum perm_question question;
	size_t planned; /* if this is an interim look, the planned units per arm; otherwise 0 */
};

/* In the unit of the quantity. */
double compare_rule_margin(const struct compare_rule *rule, const struct compare_values *v);

/*
 * Must this quantity be resolved before it can be said that nothing became slower? By the sizes of runs: the median, and
 * every higher quantile with COMPARE_BEYOND messages of each run beyond it; not the share over the limit, as how many
 * messages that has is a result itself; of a summary block, all.
 */
bool compare_rule_decides(const struct compare_rule *rule, const struct compare_point *p,
			  const struct compare_values *v);

/* Was it named as one that decides? Then it is not enough that it cannot be compared. */
bool compare_rule_names(const struct compare_rule *rule, const char *key);

/* Read "2", "2%" or "0.5%" as a share of at most `most` per cent; a text of NULL leaves `share`
 * unchanged. The error is STATUS_USAGE and names `flag`. */
int compare_read_percent(const char *flag, const char *text, unsigned most, double *share, struct err *e);

/* --margin: "2" is the general margin; "p99.9=10" that of one quantity of `metric` (NULL: any
 * series). If one is given twice, the last one counts. `rule` will point to `margins`, which has
 * room for `count`. */
int compare_read_margins(const char *const *texts, size_t count, const char *metric, struct compare_rule *rule,
			 struct compare_margin *margins, struct err *e);

/*
 * What decides: what --judge names ("p50,p99", each text a list; of these quantities, if only some are compared), else all
 * if only some are compared, else what the spec says (compare_judge_of_runs), else it depends on the sizes of runs. `rule`
 * will point to `keys`, which has room for COMPARE_JUDGE_MOST, or into `choice`.
 */
#define COMPARE_JUDGE_MOST 32
int compare_read_judge(const char *const *texts, size_t count, const struct compare_choice *choice,
		       struct compare_rule *rule, const char **keys, struct err *e);

/* Nobody has asked: what the runs' spec names ("judge" of resolved.json) decides, if it names any; `notes` (an array of
 * texts) gets one if the runs do not agree, in which case the first run of BASE is followed. */
void compare_judge_of_runs(const struct compare_runs *runs, struct compare_rule *rule, const char **keys,
			   json_t *notes);

#endif
