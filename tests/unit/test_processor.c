/*
 * Block `cpu`: shares of the time that the source's loop took, from counters that are known.
 */
#include <stdlib.h>

#include "summary_documents.h"
#include "tap.h"

#define MS ((json_int_t)1000000)

static json_t *side_of(json_int_t cpu, json_int_t duration, json_int_t cycles)
{
	return json_pack("{sI sI sI sI sI}", "cpu_ns", cpu * MS, "duration_ns", duration * MS, "cycles", cycles,
			 "machine_busy_ns", 150 * MS, "machine_ns", 100 * MS);
}

static struct rep rep_of(json_t *source, json_t *sink)
{
	return (struct rep){.counters = json_pack("{so so}", "source", source, "sink", sink)};
}

static void is_block_of(const struct block *b, struct rep *reps, size_t count, const char *expected, const char *what)
{
	const struct layout_flow flow = {.name = ""};
	json_t *block = document_of_block(b, &flow, reps, count);
	char *text = block ? json_dumps(block, JSON_REAL_PRECISION(6) | JSON_COMPACT) : strdup("none");

	is_str(text, expected, "%s", what);
	free(text);
	json_decref(block);
	for (size_t i = 0; i < count; i++)
		json_decref(reps[i].counters);
}

static void is_block(struct rep *reps, size_t count, const char *expected, const char *what)
{
	is_block_of(&processor_block, reps, count, expected, what);
}

static json_t *work_of(json_int_t units, json_int_t ns, int pinned)
{
	return json_pack("{sI sI sI sI si}", "work_units", units, "work_ns", ns, "work_alone_units", (json_int_t)3000,
			 "work_alone_ns", 10 * MS, "pinned", pinned);
}

static void test_work(void)
{
	struct rep reps[2];

	reps[0] = rep_of(json_object(), work_of(1000, 10 * MS, 1));
	reps[1] = rep_of(json_object(), work_of(5000, 30 * MS, 1));
	is_block_of(&work_block, reps, 2,
		    "{\"slowdown\":2.0,\"share\":0.5,\"units_per_s\":150000.0,\"alone_per_s\":300000.0}",
		    "a computation with half of its speed beside the messages, repetitions together");
	reps[0] = rep_of(json_object(), work_of(0, 10 * MS, 1));
	is_block_of(&work_block, reps, 1,
		    "{\"slowdown\":null,\"share\":null,\"units_per_s\":0.0,\"alone_per_s\":300000.0}",
		    "one that never got the CPU has no slowdown that could be compared");
	reps[0] = rep_of(json_object(), work_of(1000, 10 * MS, 0));
	is_block_of(&work_block, reps, 1,
		    "{\"slowdown\":null,\"share\":null,\"units_per_s\":100000.0,\"alone_per_s\":300000.0}",
		    "nor has one that may have had another CPU");
	reps[0] = rep_of(json_object(), json_object());
	is_block_of(&work_block, reps, 1, "none", "without a computation there is no block");
}

int main(void)
{
	struct rep reps[2];

	reps[0] = rep_of(side_of(50, 100, 7), side_of(20, 110, 5));
	is_block(reps, 1,
		 "{\"source_share\":0.5,\"sink_share\":0.2,\"machine_cpus\":1.5,\"source_ns\":50000000,"
		 "\"sink_ns\":20000000,\"source_cycles\":7,\"sink_cycles\":5}",
		 "a sink that sleeps while it waits for the source to begin uses nothing then");
	reps[0] = rep_of(side_of(100, 100, 0), side_of(110, 110, 5));
	is_block(reps, 1,
		 "{\"source_share\":1.0,\"sink_share\":1.0,\"machine_cpus\":1.5,\"source_ns\":100000000,"
		 "\"sink_ns\":100000000,\"source_cycles\":null,\"sink_cycles\":5}",
		 "one that polls all along uses one CPU, not more; cycles that were not counted are null");
	reps[0] = rep_of(side_of(100, 100, 1), side_of(220, 110, 1));
	reps[1] = rep_of(side_of(0, 300, 1), side_of(0, 300, 0));
	is_block(reps, 2,
		 "{\"source_share\":0.25,\"sink_share\":0.5,\"machine_cpus\":1.5,\"source_ns\":100000000,"
		 "\"sink_ns\":200000000,\"source_cycles\":2,\"sink_cycles\":null}",
		 "repetitions together, a side of two threads");
	reps[0] = rep_of(json_pack("{sI}", "duration_ns", 100 * MS), json_object());
	is_block(reps, 1, "none", "what an earlier version did not count");
	test_work();
	return done_testing();
}
