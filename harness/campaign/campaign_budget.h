/*
 * The time that a campaign may take (`--budget 8h`). An experiment is started if it is expected to end within the
 * remaining time; otherwise it is skipped, and smaller ones after it may still run. An experiment that was started is
 * finished, because it would have to be repeated from its first point.
 *
 * Expected times are those of run/forecast.h. If the experiments so far have taken longer than expected, the part that
 * is not prescribed is increased by the same factor.
 */
#ifndef KBLAT_CAMPAIGN_BUDGET_H
#define KBLAT_CAMPAIGN_BUDGET_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct err;

struct budget {
	double limit_s;	  /* 0: there is none */
	int64_t began_ms; /* monotonic_ms() */
};

/* `experiments`, `x`: of campaign.json. Which would be run at all: neither completed nor skipped. */
bool budget_concerns(const json_t *x);

/* Can any of them be run? If not, -EINVAL, and `e` contains the time that the smallest one needs. */
int budget_check(double limit_s, const json_t *experiments, struct err *e);

/* How many times longer than expected the part that is not prescribed has taken in the experiments so far: 1 or
 * more. */
double budget_pace(const json_t *experiments);

/* Is there time for this one? If not, the reason is added to `x`. */
bool budget_allows(const struct budget *b, const json_t *experiments, json_t *x);

/* What is left for lack of time, as a sentence: "2 experiments, 120 points, about 3 h 5 min are left". NULL: nothing.
 * The caller frees. */
char *budget_left_sentence(const struct budget *b, const json_t *experiments);

/* By how much the campaign took longer than its budget; 0: it did not. */
double budget_excess_s(const struct budget *b);

#endif
