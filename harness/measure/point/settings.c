#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/diag.h"
#include "common/json.h"
#include "measure/point/settings.h"

static const char *const poll_send_names[] = {
    [POLL_BUSY] = "busy", [POLL_EVENT] = "event", [POLL_ADAPTIVE] = "adaptive", [POLL_SEND_SAME] = "same", NULL};

static const char *const explain_names[] = {
    [EXPLAIN_NO] = "no", [EXPLAIN_YES] = "yes", [EXPLAIN_REQUIRED] = "required", NULL};

const char *const clock_method_names[] = {
    [CLOCK_BY_EXCHANGE] = "exchange", [CLOCK_BY_PTP] = "ptp", [CLOCK_BY_SYSTEM] = "system", NULL};

#define FIELD(f) offsetof(struct common_settings, f)

const struct opt common_options[] = {
    {"poll", OPT_ENUM, FIELD(poll), "busy", 0, 0, poll_mode_names,
     "how to wait for completions: spin, sleep until an event, or spin for a while and then sleep"},
    {"poll_send", OPT_ENUM, FIELD(poll_send), "same", 0, 0, poll_send_names,
     "how to wait for send completions, if different from `poll`"},
    {"spin", OPT_TIME, FIELD(spin), "50us", 0, 1000000000, NULL, "how long adaptive polling spins before it sleeps"},
    {"depth", OPT_INT, FIELD(depth), "1024", 1, 1 << 20, NULL,
     "maximum number of messages in flight, and number of receive buffers"},
    {"repetitions", OPT_INT, FIELD(repetitions), "25", 1, 100000, NULL, "how many times a point is measured",
     OPT_BOOKKEEPING | OPT_OF_POINT},
    {"rounds", OPT_INT, FIELD(rounds), "1", 1, 100000, NULL,
     "in how many passes through all points the repetitions are measured; with several, a machine that drifts shows in "
     "how the repetitions spread, and points remain comparable",
     OPT_BOOKKEEPING | OPT_OF_POINT},
    {"warmup", OPT_INT, FIELD(warmup), "1000", 0, 1000000000, NULL,
     "messages sent before the first repetition, without pauses; their stamps are stored separately", OPT_BOOKKEEPING},
    {"fresh", OPT_BOOL, FIELD(fresh), "no", 0, 0, NULL,
     "start new endpoint processes, with new connections and a new warm-up, for every repetition; this takes longer",
     OPT_OF_POINT},
    {"limit", OPT_TIME, FIELD(limit), "10us", 1, 0x7fffffffffffffff, NULL,
     "the share of latencies above this limit is reported", OPT_BOOKKEEPING},
    {"timeout", OPT_TIME, FIELD(timeout), "30s", 100000000, 86400000000000, NULL,
     "an endpoint without progress for this time has failed", OPT_BOOKKEEPING},
    {"drain", OPT_TIME, FIELD(drain), "200ms", 1000000, 60000000000, NULL,
     "how long the sink waits for messages still in flight after the source has ended", OPT_BOOKKEEPING},
    {"source_cpu", OPT_CPU, FIELD(source_cpu), "auto", 0, 0, NULL,
     "CPU of the source: chosen from a list, near:DEVICE (its NUMA node) or cpuset:NAME; auto: a CPU of its own if it "
     "polls busily, unpinned otherwise"},
    {"sink_cpu", OPT_CPU, FIELD(sink_cpu), "auto", 0, 0, NULL, "the same for the sink"},
    {"priority", OPT_INT, FIELD(priority), "0", 0, 98, NULL,
     "SCHED_FIFO priority of the measuring threads (needs CAP_SYS_NICE or RLIMIT_RTPRIO); 0: the scheduling policy of "
     "kblat"},
    {"priority_limit", OPT_TIME, FIELD(priority_limit), "10min", 1000000, 86400000000000, NULL,
     "a measuring thread with SCHED_FIFO priority is stopped after running this long without sleeping, and the point "
     "fails"},
    {"touch", OPT_BOOL, FIELD(touch), "yes", 0, 0, NULL,
     "prefault and lock the memory for stamps; `no` shows the cost of untouched memory"},
    {"cycles", OPT_BOOL, FIELD(cycles), "no", 0, 0, NULL,
     "count the processor cycles of the measuring threads (perf_event_open); this makes wake-ups slower"},
    {"clock", OPT_ENUM, FIELD(clock), "exchange", 0, 0, clock_method_names,
     "how to convert the sink's stamps to the source's time between two hosts: by exchanging messages, by the clock "
     "that ptp4l synchronises on both, or by the system clock that chrony synchronises on both",
     OPT_BOOKKEEPING | OPT_OF_POINT},
    {"explain", OPT_ENUM, FIELD(explain), "no", 0, 0, explain_names,
     "record what the kernel does on the endpoints' CPUs, so that `kblat explain` can show why messages were late "
     "(needs root, or access to tracefs); required: do not measure without it",
     OPT_BOOKKEEPING},
    {"explain_buffer", OPT_BYTES, FIELD(explain_buffer), "4MiB", 65536, 1 << 30, NULL,
     "with explain: buffer for kernel events of a repetition, for each CPU; at most 256 MiB for all CPUs of a side",
     OPT_BOOKKEEPING},
    {"environment", OPT_STR, FIELD(environment), "none", 0, 0, NULL,
     "kbtune profile (`kbtune profiles`) to apply while the point is measured, with endpoints inside its shields; "
     "none: the machine as it is",
     OPT_OF_POINT},
    {.name = NULL},
};

static const char *const until_names[] = {[UNTIL_ALL] = "all", [UNTIL_FIRST] = "first", NULL};

const struct opt flow_options[] = {
    {"flows", OPT_STR, offsetof(struct flow_settings, flows), "", 0, 0, NULL,
     "names of several flows (pairs of endpoints) that are measured together; NAME.setting is a setting of one flow",
     OPT_OF_POINT},
    {"until", OPT_ENUM, offsetof(struct flow_settings, until), "all", 0, 0, until_names,
     "with flows: a repetition ends when all flows have ended, or when the first has, which stops the others",
     OPT_OF_POINT},
    {.name = NULL},
};

const struct opt *setting_find(const struct kernel_ops *k, const struct transport_ops *t, const char *name)
{
	const struct opt *row = opt_find(common_options, name);

	if (!row && k)
		row = opt_find(k->options, name);
	if (!row && t)
		row = opt_find(t->options, name);
	return row;
}

void setting_each(const struct kernel_ops *k, const struct transport_ops *t,
		  void (*each)(void *arg, const struct opt *row), void *arg)
{
	const struct opt *tables[] = {common_options, k->options, t->options};

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (const struct opt *row = tables[i]; row->name; row++)
			each(arg, row);
}

void setting_each_named(const char *name, setting_taker *take, void *arg)
{
	const struct opt *row = opt_find(common_options, name) ?: opt_find(flow_options, name);

	if (row)
		take(arg, row, "every point", "");
	for (size_t i = 0; kernels[i]; i++)
		if ((row = opt_find(kernels[i]->options, name)))
			take(arg, row, "the kernel ", kernels[i]->name);
	for (size_t i = 0; transports[i]; i++)
		if ((row = opt_find(transports[i]->options, name)))
			take(arg, row, "the transport ", transports[i]->name);
}

struct first_found {
	const struct opt *row;
	char *owner;
	size_t owner_size;
};

static void take_first(void *arg, const struct opt *row, const char *kind, const char *name)
{
	struct first_found *f = arg;

	if (f->row)
		return;
	f->row = row;
	snprintf(f->owner, f->owner_size, "%s%s", kind, name);
}

const struct opt *setting_find_anywhere(const char *name, char *owner, size_t owner_size)
{
	struct first_found f = {.owner = owner, .owner_size = owner_size};

	setting_each_named(name, take_first, &f);
	return f.row;
}

const char *setting_cut_flow(const char *name, char *flow, size_t flow_size)
{
	const char *dot = strchr(name, '.');

	snprintf(flow, flow_size, "%.*s", dot ? (int)(dot - name) : 0, name);
	return dot ? dot + 1 : name;
}

char *setting_of_flow(const char *flow, const char *name, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%s", flow, *flow ? "." : "", name);
	return buf;
}

bool setting_is_of_point(const char *name)
{
	const struct opt *row = opt_find(flow_options, name);

	if (!row)
		row = opt_find(common_options, name);
	return row && row->flags & OPT_OF_POINT;
}

static void collect(const char **names, size_t *count, size_t max, const struct opt *table)
{
	for (; table->name && *count + 1 < max; table++)
		names[(*count)++] = table->name;
}

const char *setting_suggest(const char *name)
{
	const char *names[256] = {"kernel", "transport"};
	size_t count = 2, max = sizeof(names) / sizeof(names[0]);

	collect(names, &count, max, common_options);
	collect(names, &count, max, flow_options);
	for (size_t i = 0; kernels[i]; i++)
		collect(names, &count, max, kernels[i]->options);
	for (size_t i = 0; transports[i]; i++)
		collect(names, &count, max, transports[i]->options);
	names[count] = NULL;
	return suggest(name, names);
}

json_t *setting_defaults(const struct opt *table, bool of_point)
{
	json_t *defaults = json_object();
	char key[64];

	for (; table->name; table++)
		if (!(table->flags & OPT_OF_POINT) == !of_point)
			json_object_set_new(defaults, opt_key(table, key, sizeof(key)), opt_default(table));
	return defaults;
}

static void add_bookkeeping(json_t *keys, const struct opt *table)
{
	char key[64];

	for (; table->name; table++)
		if (table->flags & OPT_BOOKKEEPING && !json_has_string(keys, opt_key(table, key, sizeof(key))))
			json_array_append_new(keys, json_string(key));
}

json_t *setting_bookkeeping(void)
{
	json_t *keys = json_array();

	add_bookkeeping(keys, common_options);
	for (size_t i = 0; kernels[i]; i++)
		add_bookkeeping(keys, kernels[i]->options);
	for (size_t i = 0; transports[i]; i++)
		add_bookkeeping(keys, transports[i]->options);
	return keys;
}
