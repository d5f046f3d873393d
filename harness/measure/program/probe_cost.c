#include "measure/program/probes.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/cpulist.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/sort.h"
#include "measure/instrument/clock.h"
#include "measure/trace/trace.h"

#define CALLS	     301
#define BUFFER_BYTES (256 << 10) /* their events */

/* What is probed: a function for each end, as two probes at one place would share their trap. */
__attribute__((noinline)) static void probed_begin(void)
{
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void probed_end(void)
{
	__asm__ volatile("nop" ::: "memory");
}

/* How long a request that does nothing takes, in ticks: the median. */
static int64_t call_probed(void)
{
	int64_t took[CALLS];

	for (size_t i = 0; i < CALLS; i++) {
		const int64_t begin = clock_ticks_begin();

		probed_begin();
		probed_end();
		took[i] = clock_ticks_end() - begin;
	}
	sort_integers(took, CALLS);
	return took[CALLS / 2];
}

static int find_probed(void (*function)(void), const struct probe_place *like, struct probe_place *out, struct err *e)
{
	struct link_map *map = NULL;
	Dl_info here;
	char *text;
	int rc;

	*out = (struct probe_place){.binary = NULL};
	if (!dladdr1((void *)(uintptr_t)function, &here, (void **)&map, RTLD_DL_LINKMAP) || !map)
		return -ENOENT;
	text = fs_path("/proc/self/exe:0x%" PRIxPTR "%s", (uintptr_t)function - map->l_addr,
		       like->at_return ? "%return" : "");
	rc = probe_place_find(text, out, e);
	free(text);
	return rc;
}

/* With the events that are enabled when the program runs: probes are traps of a thread whose calls are traced. */
static int64_t call_with_probes(const struct probes *probes, struct err *e)
{
	const pid_t self = getpid();
	struct trace *trace = NULL;
	struct cpulist cpus;
	int64_t took = 0;

	if (!trace_online_cpus(&cpus) && !trace_open(&trace, &cpus, BUFFER_BYTES, TRACE_SET_PROGRAM, e) &&
	    !trace_follow_program(trace, &self, 1, probes->system, e) && !trace_start(trace, e))
		took = call_probed();
	trace_close(trace);
	return took;
}

int64_t probe_cost_ns(const struct probe_place places[PROBE_ENDS], const struct clock_conversion *c)
{
	static void (*const probed[PROBE_ENDS])(void) = {[PROBE_FROM] = probed_begin, [PROBE_TO] = probed_end};
	struct probe_place own[PROBE_ENDS] = {{.binary = NULL}};
	struct err e = ERR_INIT; /* what it says would be said of the program's probes, too */
	struct probes probes = {.system = ""};
	int64_t without, with = 0;
	int rc = 0;

	for (enum probe_end end = PROBE_FROM; !rc && end < PROBE_ENDS; end++)
		rc = find_probed(probed[end], &places[end], &own[end], &e);
	call_probed();
	without = call_probed();
	if (!rc && !probes_add(own, NULL, &probes, &e)) {
		with = call_with_probes(&probes, &e);
		probes_remove(&probes);
	}
	for (enum probe_end end = PROBE_FROM; end < PROBE_ENDS; end++)
		probe_place_free(&own[end]);
	return with > without ? clock_to_ns(c, with) - clock_to_ns(c, without) : 0;
}
