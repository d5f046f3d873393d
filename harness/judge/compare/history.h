/*
 * Many builds in chronological order: one value per boot, and where the level seems to change
 * (judge/compare/changepoint.h). A change is not a verdict, but a hint which two builds to compare. Pure.
 */
#ifndef KBLAT_COMPARE_HISTORY_H
#define KBLAT_COMPARE_HISTORY_H

#include <stddef.h>
#include <stdio.h>

#include "common/table.h"
#include "judge/compare/compare_join.h"
#include "judge/compare/comparison.h"

/* A unit (a boot or a run) that has the point. */
struct history_build {
	char *kernel, *boot, *started_utc; /* of the first of its runs */
	size_t runs;
	double value, level; /* NAN: it has none; level: the mean of the builds between two changes, without odd ones */
	bool odd;	     /* far from its neighbours, which agree */
};

struct history_change {
	size_t at, before;     /* indices of the builds after it and before it */
	double from, to;       /* levels */
	double effect_percent; /* NAN: it was 0 before */
};

struct history_point {
	json_int_t id;
	char *label, *metric; /* metric: "" if nothing was measured */
	const char *unit;     /* "ns", "share", … */
	const char *why;      /* it is not compared; "" if it is */
	struct history_build *builds;
	size_t build_count;
	struct history_change *changes;
	size_t change_count;
};

/* What is shown of an odd build: how far it is from its level, in per cent; 0 if that is not defined. */
double history_odd_percent(const struct history_build *b);

/* Two kernels of which one follows the other, compared (judge/compare/comparison.h). */
struct history_step {
	char *from, *to, *answer; /* kernels; a sentence */
	char *page;		  /* of the comparison, relative to that of the history; "" if there is none */
	enum compare_outcome outcome;
};

/* It owns what it points to, except for words that do not change; texts are never NULL. */
struct history_page {
	char *name, *link, *why; /* as of history_add_page() */
};

struct history {
	char *experiment, *answer;
	char *levels;	      /* what the levels alone say: the answer, unless there are steps */
	const char *quantity; /* its key: "p50" */
	enum compare_unit_kind kind;
	struct history_point *points;
	size_t point_count;
	struct history_step *steps; /* history_add_step() */
	size_t step_count;
	struct history_page *pages; /* of the runs */
	size_t page_count;
};

/* The history of joined runs, which are all in the base; `quantity`: a key from
 * compare_quantity_list(), to which it points; `by_kernel`: builds are in the order of their kernels, each of which begins
 * where it first ran, and only then of time. history_free() it. */
struct history history_of(const struct compare_join *j, const char *quantity, bool by_kernel);
void history_free(struct history *h);

/* Add the next step, with copies of these texts. The steps are what is answered from then on, the levels a hint. */
void history_add_step(struct history *h, const char *from, const char *to, const struct comparison *c,
		      const char *page);

/* Add the page of a run, likewise. */
/* `link`: relative to the page of the history; NULL: the run has none in its folder. `why`: what is wrong with the run; NULL. */
void history_add_page(struct history *h, const char *name, const char *link, const char *why);

/* How steps are shown; `narrow`: what is known is a note below each row. The caller frees it with table_free(). */
struct table history_steps_table(const struct history *h, bool narrow);

/* What the steps say together: a regression if one is; OUTCOME_UNDECIDED if there are none. */
enum compare_outcome history_outcome(const struct history *h);

/* The builds of a point. The caller frees it with table_free(). */
struct table history_builds_table(const struct history_point *p);

/* What is shown of a change, in per cent; 0 if that is not defined. */
double history_change_percent(const struct history_change *c);

/* Print it for people, 110 columns wide. */
void history_table(const struct history *h, FILE *out);

/* Its form in files, the only place that knows the keys: a new reference.
 *
 *   {"schema": 1, "experiment", "unit", "quantity", "answer",
 *    "points": [{"id", "label", "metric", "unit": "ns" | "share" | …, "why": "" or a sentence,
 *      "builds" (that have the point): [{"kernel", "boot", "started_utc", "runs", "value" (null: none),
 *        "level" (of its segment), "odd" (if it is)}],
 *      "changes": [{"at" (index of the first build after it), "before", "after" (kernels),
 *        "from", "to" (levels), "effect_percent"}]}],
 *    "steps" (if there are any): [{"from", "to" (kernels), "verdict" and "answer" as of a comparison, "page"}]} */
json_t *history_json(const struct history *h);

#endif
