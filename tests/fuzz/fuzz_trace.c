/*
 * What the kernel did while messages were measured: timelines, and why messages were late. The first line is the file's JSON, a
 * line of five numbers is an event, one of two numbers when a message was sent and received.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/npy.h"
#include "files/rundir/trace_file.h"
#include "fuzz.h"
#include "judge/analysis/explained.h"
#include "judge/analysis/timeline_build.h"

#define EVENTS_MOST   256
#define MESSAGES_MOST 64
#define LIMIT_NS      10

struct input {
	int64_t words[EVENTS_MOST * TRACE_WORDS], sent[MESSAGES_MOST], received[MESSAGES_MOST];
	size_t events, messages;
};

static void take_line(struct input *in, const char *line)
{
	json_t *list = json_loads(line, 0, NULL);
	const size_t count = json_array_size(list);

	if (count == TRACE_WORDS && in->events < EVENTS_MOST) {
		for (size_t i = 0; i < count; i++)
			in->words[in->events * TRACE_WORDS + i] = json_integer_value(json_array_get(list, i));
		in->events++;
	} else if (count == 2 && in->messages < MESSAGES_MOST) {
		in->sent[in->messages] = json_integer_value(json_array_get(list, 0));
		in->received[in->messages++] = json_integer_value(json_array_get(list, 1));
	}
	json_decref(list);
}

static void write_files(const struct input *in, const char *about)
{
	static char *json, *npy;
	const size_t bytes = in->events * TRACE_WORDS * sizeof(int64_t);
	char *file = malloc(NPY_HEADER + bytes);

	if (!file)
		abort();
	if (!json) {
		json = fs_path("%s/trace-source.json", fuzz_folder());
		npy = fs_path("%s/trace-source.npy", fuzz_folder());
	}
	npy_header(file, in->events * TRACE_WORDS);
	memcpy(file + NPY_HEADER, in->words, bytes);
	fuzz_write(npy, file, NPY_HEADER + bytes);
	fuzz_write(json, about, strlen(about));
	free(file);
}

static void check_timeline(const struct timeline *t, const struct cause_table *causes)
{
	for (size_t i = 0; i < t->count; i++) {
		fuzz_require(t->segments[i].from < t->segments[i].to && t->segments[i].cause < causes->count);
		fuzz_require(!i || t->segments[i - 1].from <= t->segments[i].from);
	}
}

static void explain(const struct input *in, const struct trace_file *f)
{
	struct cause_table causes = {.list = NULL};
	struct attribution late = {.late = NULL};
	struct timeline side[2];

	for (unsigned k = 0; k < 2; k++) {
		timeline_build(f, k, k, &causes, &side[k]);
		check_timeline(&side[k], &causes);
	}
	for (int divide = 1; divide < 3; divide++)
		attribution_add(
		    &(struct attribution_input){.span = {.a = in->received, .b = in->sent, .count = in->messages},
						.divide = divide,
						.limit = LIMIT_NS,
						.median = in->messages ? in->sent[0] : 0,
						.side = {&side[0], divide == 1 ? &side[1] : NULL},
						.path = {1 + (unsigned)divide, {0, 1, 0}, LIMIT_NS}},
		    &causes, &late);
	for (size_t i = 0; i < late.count; i++)
		fuzz_require(late.late[i].cause < causes.count);
	attribution_free(&late);
	for (unsigned k = 0; k < 2; k++)
		timeline_free(&side[k]);
	cause_table_free(&causes);
}

/* The same events as those of a program's threads, of which the messages are requests. */
static void explain_threads(const struct input *in, const struct trace_file *f)
{
	struct cause_table causes = {.list = NULL};
	struct attribution late = {.late = NULL};
	struct timeline_threads threads;
	int64_t thread[MESSAGES_MOST];

	timeline_build_threads(f, &causes, &threads);
	for (size_t i = 0; i < threads.count; i++) {
		const struct timeline_thread *t = &threads.list[i];

		check_timeline(&t->line, &causes);
		for (size_t k = 1; k < t->line.count; k++)
			fuzz_require(t->line.segments[k - 1].to <= t->line.segments[k].from);
		for (size_t k = 1; k < t->wake_count; k++)
			fuzz_require(t->wakes[k - 1].time <= t->wakes[k].time);
		fuzz_require(!i || t[-1].tid < t->tid);
	}
	for (size_t i = 0; i < in->messages; i++)
		thread[i] = in->events ? in->words[i % in->events * TRACE_WORDS + TRACE_VALUE] : 0;
	attribution_add(&(struct attribution_input){.span = {.a = in->received, .b = in->sent, .count = in->messages},
						    .divide = 1,
						    .limit = LIMIT_NS,
						    .median = in->messages ? in->sent[0] : 0,
						    .threads = &threads,
						    .thread = thread},
			&causes, &late);
	for (size_t i = 0; i < late.count; i++)
		fuzz_require(late.late[i].cause < causes.count);
	attribution_free(&late);
	timeline_free_threads(&threads);
	cause_table_free(&causes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct input in;
	char *text = fuzz_text(data, size), *rest = text, *about = strsep(&rest, "\n"), *line;
	struct trace_file f;
	struct err e = ERR_INIT;
	int rc;

	in.events = in.messages = 0;
	while ((line = strsep(&rest, "\n")))
		take_line(&in, line);
	write_files(&in, about);
	rc = trace_file_open(fuzz_folder(), "source", &f, &e);
	fuzz_require(rc >= 0 || *e.text);
	if (rc > 0) {
		explain(&in, &f);
		explain_threads(&in, &f);
		trace_file_close(&f);
	}
	free(text);
	return 0;
}

static const char *const words[] = {
    "kinds",	 "names", "why", "known_until_ns", "irq_enter", "irq_exit", "softirq_enter",
    "task",	 "idle",  "own", "preempted",	   "slept",	"stopped",  "woken",
    "fault",	 "nmi",	  "gap", "work_enter",	   "IPI",	"moved",    "call_enter",
    "call_exit", "",	  NULL};

FUZZ_MUTATOR(mutate_lines, words)
