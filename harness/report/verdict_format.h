/*
 * Verdicts in the formats of test labs, and their exit statuses. A format is a row and a function.
 */
#ifndef KBLAT_REPORT_VERDICT_FORMAT_H
#define KBLAT_REPORT_VERDICT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/err.h"

struct claim_verdicts;
struct comparison;
struct run;
struct summary;

/* Neither undecided nor impossible is a pass or a failure; a regression is always a failure. */
enum verdict_result {
	VERDICT_PASS,
	VERDICT_FAIL,
	VERDICT_UNDECIDED,
	VERDICT_IMPOSSIBLE,
	VERDICT_ERROR,
	VERDICT_RESULTS
};

struct verdict {
	char *group; /* "point 3: rc, 32B"; verdicts of a group follow each other */
	char *name;  /* "p50", unique within its group */
	enum verdict_result result;
	bool shown_only;  /* the whole does not depend on it, unless it is a failure */
	char *why;	  /* a sentence, or "" */
	char *numbers;	  /* for people: what was measured, or "" */
	double value;	  /* NAN: none */
	const char *unit; /* "ns", "share", "hz", "bytes", …; "": a number alone */
};

struct verdict_list {
	char *suite;		    /* the experiment */
	char *kernel;		    /* of the machine that is judged; "": not known */
	char *of;		    /* what was judged: names of runs, boots or a study */
	enum verdict_result result; /* of the whole */
	char *answer;		    /* a sentence, or "" */
	struct verdict *all;
	size_t count;
};

/* All texts are copied. */
struct verdict_list verdict_list_make(const char *suite, enum status status, const char *answer);

/* The new one, which has neither reason nor number yet. */
struct verdict *verdict_list_add(struct verdict_list *l, const char *group, const char *name,
				 enum verdict_result result);

/* Add to `of` what was judged: the last part of a path. */
void verdict_list_is_of(struct verdict_list *l, const char *path);

/* Set a text of a verdict or of the list, which is copied. */
void verdict_text(char **text, const char *to);

/* A status of ours: OK, NO, UNDECIDED, IMPOSSIBLE; all others are errors. */
enum verdict_result verdict_of_status(enum status status);

struct verdict_list verdict_list_of_comparison(const struct comparison *c);

/* `runs`: those that were judged. */
struct verdict_list verdict_list_of_claims(const struct claim_verdicts *v, const struct run *runs, size_t count);

/* Points of a run, by what became of them, and its claims. */
struct verdict_list verdict_list_of_run(const struct summary *s, const struct claim_verdicts *v, const struct run *run,
					enum status status);

struct verdict_format {
	const char *name; /* "ktap" */
	void (*print)(const struct verdict_list *l, FILE *out);
};

extern const struct verdict_format verdict_formats[]; /* `name` NULL ends it */

#define VERDICT_FORMAT_NAMES "ktap, junit, lava, kcidb, tmt or tap"
#define VERDICT_EXIT_NAMES   "default, kselftest, tmt, automake or git-bisect"

/* `name` NULL: none is asked for. 0, or -EINVAL and STATUS_USAGE for one that does not exist. */
int verdict_format_find(const char *name, const struct verdict_format **format, struct err *e);

/* Print to standard output, and free the list. */
void verdict_format_print(const struct verdict_format *f, struct verdict_list list);

/* Whose exit statuses. */
int verdict_exit_find(const char *name, struct err *e);

/* A status of ours as one of `whose` ("kselftest", …); unchanged for "default" and whatever does not exist. */
int verdict_exit_status(const char *whose, enum status status);

#endif
