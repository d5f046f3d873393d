/*
 * The result of a comparison, as judges fill it in (compare_judge.h, compare_noise.h, compare_causes.h)
 * and tables, pages and figures show it, and its form in files. It owns what it points to, except for words that do not
 * change; texts are never NULL. Numbers that are infinite or not defined are NAN.
 */
#ifndef KBLAT_COMPARE_COMPARISON_H
#define KBLAT_COMPARE_COMPARISON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/table.h"
#include "judge/analysis/cause.h"
#include "judge/compare/compare_runs.h"

enum compare_verdict {
	COMPARE_REGRESSION,
	COMPARE_IMPROVEMENT,
	COMPARE_EQUIVALENT,
	COMPARE_UNDECIDED,
	COMPARE_VERDICTS,		 /* of one quantity */
	COMPARE_MIXED = COMPARE_VERDICTS /* of several: some are worse, others better */
};
extern const char *const compare_verdicts[COMPARE_VERDICTS + 1];

/* Did it become slower? */
enum compare_outcome { OUTCOME_REGRESSION, OUTCOME_NONE, OUTCOME_UNDECIDED, COMPARE_OUTCOMES };
extern const char *const compare_outcomes[COMPARE_OUTCOMES]; /* "regression", "no regression", "undecided" */

/* How those quantities were chosen that decide. */
enum compare_judge_from { JUDGE_BY_SIZE, JUDGE_ALL, JUDGE_SPEC, JUDGE_ASKED };

/* NEW - BASE, in the quantity's own unit and in per cent of BASE. */
struct comparison_amount {
	double own, percent;
};

struct comparison_quantity {
	const char *key;  /* "p50" */
	const char *unit; /* "ns", "share", … */
	enum compare_verdict verdict;
	bool may_be_worse; /* by more than the margin */
	bool noisy;	   /* a change of the size of the margin cannot be distinguished from noise */
	bool decides;	   /* it must be resolved for an answer */
	bool less_is_worse;
	double level[ARMS];
	struct comparison_amount effect;
	struct comparison_amount low, high;		/* holds for all points and quantities together */
	struct comparison_amount low_alone, high_alone; /* for this quantity alone */
	double p, p_alone;
	struct comparison_amount margin, noise, detectable;
	struct comparison_amount step; /* values that differ by less may be the same; 0: none is known */
};

/* A quantity that was not compared. */
struct comparison_missing {
	const char *key, *why;
	bool decides; /* it was named as one that does */
};

/* A unit (a boot or a run): the value of the point's first quantity, in its own unit. */
struct comparison_unit {
	enum compare_arm arm;
	char *boot, *kernel;
	json_int_t started_ns; /* of the first of its runs */
	double value;
	double *runs; /* one value for each */
	size_t run_count;
};

/* What made messages late, if it is known for both arms; numbers are the mean of the runs in which causes are known. */
struct comparison_late_cause {
	struct cause cause;
	struct {
		double messages, share; /* of the arm's late messages */
		double time_ns;		/* that the cause had of each: the median, the mean of the runs */
	} arm[ARMS];
};

struct comparison_late {
	bool known;
	struct {
		size_t runs;
		double messages;
	} arm[ARMS];
	struct comparison_late_cause *causes; /* the most frequent first */
	size_t cause_count;
};

/* A stage of the messages' way through sockets (`stages: yes`): its mean time, the mean of each arm's units. */
struct comparison_stage {
	const char *key, *where; /* "read_ns", "between driver and reader" */
	double level[ARMS];
	double effect, low, high; /* NEW - BASE in ns, and its interval, for this stage alone */
};

struct comparison_point {
	json_int_t id;
	char *label;	/* the settings in which points differ: "rc, busy, 32B" */
	char *metric;	/* "" if nothing was measured */
	json_t *params; /* its settings */
	size_t left_out[ARMS];
	json_t *reasons; /* why runs are left out: texts */
	struct comparison_quantity *quantities;
	size_t quantity_count;
	struct comparison_missing *missing;
	size_t missing_count;
	struct comparison_unit *units; /* in order of time */
	size_t unit_count;
	struct comparison_late late;
	struct comparison_stage
	    *stages; /* their effects add up to that on the mean latency; NULL: not known in both arms */
	size_t stage_count;
};

struct comparison_arm {
	size_t runs, units;
	json_t *kernels, *hosts, *boots; /* texts, each once */
};

/* How many units an arm needs. */
struct comparison_needed {
	size_t units;	  /* 0: not known */
	bool at_least;	  /* it may be more */
	json_int_t point; /* which needs most */
	double stdev_units_percent, stdev_runs_percent;
};

/* Something in the captures and counters of the runs that may cause noise. */
struct comparison_cause {
	const char *what;
	double least, median, most;
	double correlation; /* with the latencies, by ranks */
};

/* A machine too noisy for a verdict. */
struct comparison_noise {
	size_t points;			 /* how many are; 0: none, and all else is empty */
	size_t at;			 /* index of the worst one */
	char *text, *cause;		 /* sentences */
	struct comparison_cause *causes; /* that are known */
	size_t cause_count;
};

/* How the machine's state differs between the first run of BASE and others, in a way that may explain a difference. */
struct comparison_difference {
	char *key, *group, *meaning;
	json_t *a, *b;		 /* values: texts, numbers, or null */
	json_t *removed, *added; /* of lists of words; NULL: it is none */
	bool varying;		 /* it is under test */
	size_t runs[ARMS];	 /* that differ */
};

struct comparison {
	enum compare_outcome verdict;
	char *answer; /* a sentence */
	char *experiment;
	enum compare_unit_kind kind;
	bool pairs, in_turn;
	double alpha;		     /* of this look, where it is one; 0 between two looks */
	size_t planned;		     /* units of an arm; 0: there are no looks */
	size_t next_look;	     /* units; 0: there is none */
	double alpha_of_all;	     /* looks */
	double least_margin, effect; /* shares */
	enum compare_judge_from judge_from;
	uint64_t seed;
	bool judged; /* false: too few units */
	size_t relabellings;
	bool exact;    /* these are all */
	size_t trends; /* powers of time that were taken out of the values */
	struct comparison_arm arm[ARMS];
	json_t *notes; /* texts */
	struct comparison_needed needed;
	struct comparison_point *points; /* as they were joined */
	size_t point_count;
	struct comparison_noise noise;
	struct comparison_difference *state;
	size_t state_count;
};

void comparison_free(struct comparison *c);

/* The point's first quantity, or NULL. */
const struct comparison_quantity *comparison_first(const struct comparison_point *p);

/* The confidence level of the intervals in per cent: 95. */
double comparison_confidence(const struct comparison *c);

/* The number of differences of the state that are not under test. */
size_t comparison_state_fatal(const struct comparison *c);

/* "24 of 24 runs of NEW, 1 of 24 of BASE"; returns `text`. */
char *comparison_where(const struct comparison *c, const struct comparison_difference *d, char *text, size_t size);

/* The first of an arm's kernels; NULL: none is known. */
const char *comparison_kernel(const struct comparison *c, enum compare_arm arm);

/* Changes of shares are shown in percentage points, all others in per cent: is this one? */
bool comparison_is_share(const struct comparison_quantity *q);
double comparison_shown(const struct comparison_quantity *q, const struct comparison_amount *a);

/* "+1.20 us"; returns `text`. */
const char *comparison_signed_ns(double ns, char *text, size_t size);

/* "p50 and p99 decide, …": which quantities must be resolved for an answer, and why these. The caller frees. */
char *comparison_decides(const struct comparison *c);

/*
 * A comparison as JSON: `kblat compare --json`, and compare.json of its page. Only this module knows the keys.
 *
 *   {"schema": 1, "verdict": "no regression" | "regression" | "undecided", "answer": a sentence,
 *    "experiment", "unit": "boot" | "run", "pairs", "in_turn", "alpha": of this look, where it is one,
 *    "look": null or {"planned": units an arm, "next": units at the next look or null, "alpha": of
 *      all looks}, "least_margin_percent", "judge": "sizes" | "all" | "spec" | "asked", "effect_percent", "seed", "relabellings": {"count", "exact"},
 *    "base": {"runs", "units", "kernels": [], "hosts": [], "boots": []}, "with": likewise,
 *    "notes": [], "needed": {"units", "at_least", "effect_percent", "point",
 *      "stdev_units_percent", "stdev_runs_percent"} or null,
 *    "points": [{"id", "label", "params", "metric", "left_out": {"base", "with"}, "reasons": [],
 *      "quantities": [{"quantity": "p50",
 *        "verdict": "regression" | "improvement" | "equivalent" | "undecided", "may_be_worse",
 *        "noisy", "decides", "unit": "ns" | "share" | …, "base", "with", "effect", "effect_percent",
 *        "low", "high", "low_percent", "high_percent",
 *        "low_alone", "high_alone", "low_alone_percent", "high_alone_percent",
 *        "p", "p_alone", "margin", "margin_percent", "margin_from": "least" ("clock" before
 *        1.0.1), "step", "step_percent": what the clock or the digits cannot tell apart, "noise", "noise_percent", "detectable", "detectable_percent"}],
 *      "not_compared": [{"quantity", "why"}],
 *      "units": [{"arm": "BASE" | "NEW", "boot", "kernel", "started_ns", "value", "runs": []}],
 *      "late": null or {"base": {"runs": in which causes are known, "messages"}, "with": likewise,
 *        "causes": [{"class", "side", "name", "text", "base": {"messages", "share",
 *          "time_p50_ns"}, "with": likewise}]},
 *      "stages": null or [{"stage": "read_ns", "where", "base", "with", "effect", "low", "high"}: in ns]}],
 *    "trends": powers of time that were taken out of the values,
 *    "noisy": null or {"points": how many are noisy, "point": the worst, "quantity",
 *      "noise_percent", "detectable_percent", "margin_percent", "text", "cause",
 *      "causes": [{"what", "least", "median", "most", "correlation"}]},
 *    "state_fatal": number of differences not under test,
 *    "state": [{"key", "group", "class", "a", "b", "meaning", "varying", "where", and for lists of
 *      words "removed": [], "added": []}]}
 *
 * Numbers that are infinite or not defined are null.
 */

/* New references. */
json_t *compare_json(const struct comparison *c);

/* What judging has added to a point: {"id", "label", "metric", "quantities", "not_compared"}. */
json_t *compare_json_judged(const struct comparison_point *p);

/* "needed", to detect a change of `effect` (a share). */
json_t *compare_json_needed(const struct comparison_needed *n, double effect);

/* A row for each point and quantity. The caller frees it with table_free(). */
struct table comparison_table(const struct comparison *c);

/* Print all but that: what was compared, and how, remarks, causes, stages, and how the state differs. */
void comparison_words(const struct comparison *c, FILE *out);

/* Print it: what was compared, a line for each point and quantity, and the answer. At most 140 columns wide. */
void compare_table(const struct comparison *c, FILE *out);

#endif
