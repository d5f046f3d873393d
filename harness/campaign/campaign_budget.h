/*
 * How much time a campaign has (`--budget 8h`). An experiment is begun if it is expected to end within what is left of it;
 * otherwise it is left for another time, and later, smaller ones may still run. What was begun is finished: an experiment that
 * is cut off would be measured again from its first point.
 *
 * Expected times are those of run/forecast.h; what of them is not prescribed is longer where that of the campaign's experiments so
 * far was.
 */
#ifndef KBLAT_CAMPAIGN_BUDGET_H
#define KBLAT_CAMPAIGN_BUDGET_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct err;

struct budget {
	double limit_s;	  /* 0: there is none */
	int64_t began_ms; /* channel_now_ms() */
};

/* `experiments`, `x`: of campaign.json. Which would be run at all: neither completed nor skipped. */
bool budget_concerns(const json_t *x);

/* Can any of them be run? -EINVAL, and `e` says what the smallest needs. */
int budget_check(double limit_s, const json_t *experiments, struct err *e);

/* How many times longer than expected it took what is not prescribed of the experiments so far: 1 or more. */
double budget_pace(const json_t *experiments);

/* Is there time for this one? If not, `x` says why it is left. */
bool budget_allows(const struct budget *b, const json_t *experiments, json_t *x);

/* What is left for want of time, as a sentence: "2 experiments, 120 points, about 3 h 5 min are left". NULL: nothing. The
 * caller frees. */
char *budget_left_sentence(const struct budget *b, const json_t *experiments);

/* By how much the campaign took longer than its budget; 0: it did not. */
double budget_excess_s(const struct budget *b);

#endif
