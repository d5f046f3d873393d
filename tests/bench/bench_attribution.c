/*
 * Measures how long it takes to find the causes of a hundred thousand late messages among a million
 * events of the kernel, and of as many late requests of a program with many threads. The limits are a
 * second, and two.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/err.h"
#include "judge/analysis/explained.h"
#include "judge/analysis/timeline_build.h"
#include "tests/bench/bench.h"

#define EVENTS		500000 /* of each side */
#define MESSAGES	100000
#define EVERY_NS	20000 /* a message */
#define LIMIT_S		1.0
#define THREADS		200
#define CPUS		8
#define WAKERS		500  /* names of tasks */
#define STEPS		10   /* events of a request */
#define FIRST		1000 /* the number of the first thread */
#define REQUEST_LIMIT_S 2.0

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

static bool messages_in_time(void)
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
		return false;
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
	return took < LIMIT_S && found.count == MESSAGES;
}

/* --- a program's threads --- */

/* Names of system calls, then of tasks. */
static json_t *make_names(void)
{
	json_t *names = json_pack("[s, s, s, s]", "local timer", "read", "futex", "write");
	char text[32];

	for (int i = 0; i < WAKERS; i++) {
		snprintf(text, sizeof(text), "task-%d", i);
		json_array_append_new(names, json_string(text));
	}
	return names;
}

/* Every 10 us a request begins: its thread computes, sleeps in a call until one of many tasks wakes it, waits for its CPU
 * behind another one, and goes on. */
static int64_t *make_request_events(void)
{
	static const struct {
		enum trace_kind kind;
		int64_t after, name; /* -1: the waker, -2: none */
		bool is_own;
	} steps[STEPS] = {{TRACE_OWN, 0, -1, true},	     {TRACE_CALL_ENTER, 500, 2, true},
			  {TRACE_SLEPT, 1000, -2, true},     {TRACE_TASK, 1000, -1, false},
			  {TRACE_WOKEN, 4000, -1, true},     {TRACE_IRQ_ENTER, 5000, 0, false},
			  {TRACE_IRQ_EXIT, 5500, -2, false}, {TRACE_OWN, 6000, -1, true},
			  {TRACE_CALL_EXIT, 6100, -2, true}, {TRACE_PREEMPTED, 9000, -2, true}};
	int64_t *words = calloc((size_t)MESSAGES * STEPS * TRACE_WORDS, sizeof(*words));

	for (size_t i = 0; words && i < (size_t)MESSAGES * STEPS; i++) {
		int64_t *word = words + i * TRACE_WORDS, request = (int64_t)i / STEPS;

		word[TRACE_TIME] = request * 10000 + steps[i % STEPS].after;
		word[TRACE_CPU] = request % CPUS;
		word[TRACE_KIND] = steps[i % STEPS].kind;
		word[TRACE_NAME] = steps[i % STEPS].name == -1	 ? 4 + request * 7 % WAKERS
				   : steps[i % STEPS].name == -2 ? -1
								 : steps[i % STEPS].name;
		word[TRACE_VALUE] = steps[i % STEPS].is_own ? FIRST + request % THREADS : 0;
	}
	return words;
}

static bool requests_in_time(void)
{
	json_t *about = json_pack("{s:s, s:{}, s:o}", "why", "", "known_until_ns", "names", make_names());
	int64_t *words = make_request_events(), *from = calloc(MESSAGES, sizeof(*from)),
		*to = calloc(MESSAGES, sizeof(*to)), *thread = calloc(MESSAGES, sizeof(*thread));
	struct trace_file f = trace_file_of_events(about, words, (size_t)MESSAGES * STEPS);
	struct cause_table causes = {.list = NULL};
	struct attribution found = {.late = NULL};
	struct timeline_threads threads;
	double start, built, took;

	if (!words || !from || !to || !thread)
		return false;
	for (int64_t i = 0; i < MESSAGES; i++) {
		from[i] = i * 10000;
		to[i] = from[i] + 8000 + i % 10;
		thread[i] = FIRST + i % THREADS;
	}
	start = bench_seconds();
	timeline_build_threads(&f, &causes, &threads);
	built = bench_seconds() - start;
	attribution_add(&(struct attribution_input){.span = {to, from, MESSAGES},
						    .divide = 1,
						    .limit = 8000,
						    .median = 8000,
						    .threads = &threads,
						    .thread = thread},
			&causes, &found);
	took = bench_seconds() - start;
	printf("%d events of %zu threads, by %zu causes, in %.3f s, %zu late requests attributed in %.3f s; together "
	       "%.3f s (limit %.0f s)\n",
	       MESSAGES * STEPS, threads.count, causes.count, built, found.count, took - built, took, REQUEST_LIMIT_S);
	return took < REQUEST_LIMIT_S && found.count == MESSAGES / 10 * 9;
}

int main(void)
{
	const bool messages = messages_in_time();

	return requests_in_time() && messages ? STATUS_OK : STATUS_NO;
}
