#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kernels/oneway.h"

#define FIELD(f) offsetof(struct oneway_settings, f)

static const struct opt oneway_options[] = {
    {"messages", OPT_INT, FIELD(messages), "8000", 1, 1000000000, NULL, "messages of one repetition"},
    {"size", OPT_BYTES, FIELD(size), "32B", 1, 1 << 30, NULL, "payload of a message"},
    {"burst", OPT_INT, FIELD(burst), "8000", 1, 1000000000, NULL,
     "messages posted back to back before the source waits for their completions"},
    {"pause", OPT_TIME, FIELD(pause), "0ns", 0, 3600000000000, NULL, "between bursts"},
    {"check", OPT_BOOL, FIELD(check), "no", 0, 0, NULL,
     "fill and check every payload, outside the measured intervals (slows the rate)"},
    {.name = NULL},
};

static const struct kernel_column oneway_columns[] = {
    [ONEWAY_T_SUBM] = {"t_subm", ROLE_SOURCE},
    [ONEWAY_T_COMP] = {"t_comp", ROLE_SOURCE},
    [ONEWAY_T_RECV] = {"t_recv", ROLE_SINK},
    {.name = NULL},
};

static const struct kernel_series oneway_series[] = {
    {"lat_ns", "t_lat", "t_recv", "t_subm"},
    {"comp_lat_ns", "t_comp", "t_comp", "t_subm"},
    {.name = NULL},
};

#define ROW(t) {#t, &oneway_loops_##t},
extern const struct kernel_loops oneway_loops_verbs, oneway_loops_shmem, oneway_loops_scripted;

static const struct {
	const char *transport;
	const struct kernel_loops *loops;
} oneway_instances[] = {ROW(verbs) ROW(shmem) ROW(scripted)};

static const struct kernel_loops *oneway_loops(const char *transport)
{
	for (size_t i = 0; i < sizeof(oneway_instances) / sizeof(oneway_instances[0]); i++)
		if (!strcmp(oneway_instances[i].transport, transport))
			return oneway_instances[i].loops;
	return NULL;
}

const struct kernel_ops oneway_kernel = {
    .name = "oneway",
    .summary = "one-way latency: submission, send completion and reception of every message",
    .options = oneway_options,
    .settings_size = sizeof(struct oneway_settings),
    .columns = oneway_columns,
    .series = oneway_series,
    .loops = oneway_loops,
};
