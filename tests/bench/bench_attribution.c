/*
 * Measures how long it takes to find the causes of a hundred thousand late messages among a million
 * events of the kernel. The limit is a second.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/err.h"
#include "judge/analysis/attribution.h"
#include "judge/analysis/timeline_build.h"
#include "tests/bench/bench.h"

#define EVENTS	 500000 /* of each side */
#define MESSAGES 100000
#define EVERY_NS 20000 /* a message */
#define LIMIT_S	 1.0

/* Every 16 us an interrupt, followed by a softirq. */
static int64_t *make_events(void)
{
	static const enum trace_kind kinds[] = {TRACE_IRQ_ENTER, TRACE_IRQ_EXIT, TRACE_SOFTIRQ_ENTER,
						TRACE_SOFTIRQ_EXIT};
	int64_t *words = calloc((size_t)EVENTS * TRACE_WORDS, sizeof(*words));

	for (size_t i = 0; words && i < EVENTS; i++) {
		int64_t *word = words + i * TRACE_WORDS;

		word[TRACE_TIME] = (int64_t)i * 4000;
		word[TRACE_KIND] = i ? kinds[i % 4] : TRACE_OWN;
		word[TRACE_NAME] = (int64_t)(i / 4 % 2);
	}
	return words;
}

int main(void)
{
	json_t *about = json_pack("{s:s, s:{}, s:[s, s]}", "why", "", "known_until_ns", "names", "local timer", "RCU");
	int64_t *words = make_events(), *sent = calloc(MESSAGES, sizeof(*sent)),
		*came = calloc(MESSAGES, sizeof(*came));
	struct trace_file f = trace_file_of_events(about, words, EVENTS);
	struct cause_table causes = {.list = NULL};
	struct attribution found = {.late = NULL};
	struct timeline side[2];
	double start, built, took;

	if (!words || !sent || !came)
		return STATUS_FAILED;
	for (int64_t i = 0; i < MESSAGES; i++) {
		sent[i] = i * EVERY_NS;
		came[i] = sent[i] + EVERY_NS / 2;
	}
	start = bench_seconds();
	timeline_build(&f, 0, false, &causes, &side[0]);
	timeline_build(&f, 1, false, &causes, &side[1]);
	built = bench_seconds() - start;
	attribution_add(&(struct attribution_input){.span = {came, sent, MESSAGES},
						    .divide = 1,
						    .limit = 1000,
						    .median = 1000,
						    .side = {&side[0], &side[1]}},
			&causes, &found);
	took = bench_seconds() - start;
	printf("%d events to %zu intervals in %.3f s, %zu late messages attributed in %.3f s; together %.3f s (limit "
	       "%.0f s)\n",
	       2 * EVENTS, side[0].count + side[1].count, built, found.count, took - built, took, LIMIT_S);
	return took < LIMIT_S && found.count == MESSAGES ? STATUS_OK : STATUS_NO;
}
