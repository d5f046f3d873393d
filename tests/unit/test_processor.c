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

static void is_block(struct rep *reps, size_t count, const char *expected, const char *what)
{
	const struct layout_flow flow = {.name = ""};
	json_t *block = document_of_block(&processor_block, &flow, reps, count);
	char *text = block ? json_dumps(block, JSON_REAL_PRECISION(6) | JSON_COMPACT) : strdup("none");

	is_str(text, expected, "%s", what);
	free(text);
	json_decref(block);
	for (size_t i = 0; i < count; i++)
		json_decref(reps[i].counters);
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
	return done_testing();
}
