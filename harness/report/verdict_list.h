/*
 * Verdicts of any kind as one list, for the formats of other people's test labs (verdict_format.h): a comparison's by
 * point and quantity, claims by experiment, the validity of a run by point. Whoever has others adds them himself.
 */
#ifndef KBLAT_REPORT_VERDICT_LIST_H
#define KBLAT_REPORT_VERDICT_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

struct comparison;
struct claim_verdicts;
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
	char *suite;   /* the experiment */
	char *kernel;  /* of the machine that is judged; "": not known */
	char *started; /* what distinguishes these results from earlier ones: a boot, a run directory; "" */
	enum verdict_result result; /* of the whole */
	char *answer;		    /* a sentence, or "" */
	struct verdict *all;
	size_t count;
};

/* All texts are copied. */
struct verdict_list verdict_list_make(const char *suite, enum status status, const char *answer);
void verdict_list_free(struct verdict_list *l);

/* The new one, which has neither reason nor number yet. */
struct verdict *verdict_list_add(struct verdict_list *l, const char *group, const char *name,
				 enum verdict_result result);

/* Set a text of a verdict or of the list, which is copied. */
void verdict_text(char **text, const char *to);

/* A status of ours: OK, NO, UNDECIDED, IMPOSSIBLE; all others are errors. */
enum verdict_result verdict_of_status(enum status status);

struct verdict_list verdict_list_of_comparison(const struct comparison *c);
struct verdict_list verdict_list_of_claims(const struct claim_verdicts *v);

/* Points of a run, by what became of them, and its claims. `run`: the directory. */
struct verdict_list verdict_list_of_run(const struct summary *s, const struct claim_verdicts *v, const char *run,
					enum status status);

#endif
