#include "measure/kernels/exchange.h"

#include <errno.h>
#include <stdio.h>

#define FIELD(f) offsetof(struct exchange_settings, f)

static const struct opt exchange_options[] = {
    {"messages", OPT_INT, FIELD(messages), "1000", 1, 1000000000, NULL, "number of round trips in one repetition",
     OPT_BOOKKEEPING},
    {"size", OPT_BYTES, FIELD(size), "32B", 1, 1 << 30, NULL, "payload of a message, in either direction"},
    {"pause", OPT_TIME, FIELD(pause), "0ns", 0, 3600000000000, NULL, "time from an answer to the next message"},
    {"lost_after", OPT_TIME, FIELD(lost_after), "1s", 1000, 60000000000, NULL,
     "after this time without an answer a round trip is lost, and the next begins (unreliable transports)"},
    {.name = NULL},
};

static const struct kernel_column exchange_columns[] = {
    [EXCHANGE_T_SUBM] = {"t_subm", ROLE_SOURCE, NULL},
    [EXCHANGE_T_RECV] = {"t_recv", ROLE_SINK, NULL},
    [EXCHANGE_T_ANSWER] = {"t_answer", ROLE_SINK, NULL},
    [EXCHANGE_T_BACK] = {"t_back", ROLE_SOURCE, NULL},
    {.name = NULL},
};

static const struct kernel_series exchange_series[] = {
    {.name = "lat_ns", .label = "t_lat", .column = "t_recv", .minus = "t_subm"},
    {.name = "back_lat_ns", .label = "t_lat back", .column = "t_back", .minus = "t_answer"},
    {.name = "turn_ns", .label = "t_turn", .column = "t_answer", .minus = "t_recv"},
    {.name = "rtt_ns", .label = "t_rtt", .column = "t_back", .minus = "t_subm"},
    {.name = NULL},
};

static const struct kernel_thread exchange_threads[] = {
    [EXCHANGE_SOURCE] = {.name = "source", .side = ROLE_SOURCE},
    [EXCHANGE_SINK] = {.name = "sink", .side = ROLE_SINK},
    {.name = NULL},
};

KERNEL_FITS(exchange_columns, exchange_threads);

static void exchange_plan(const void *settings, struct transport_config *config)
{
	const struct exchange_settings *s = settings;

	config->size = s->size;
	config->schedule = (struct schedule){.messages = s->messages, .pause_ns = s->pause};
}

static struct kernel_demand exchange_demand(const void *settings, int64_t messages, bool warm_up)
{
	const struct exchange_settings *s = settings;

	return (struct kernel_demand){.paced_ns = warm_up ? 0 : messages * s->pause, .ways = 2 * messages};
}

/* A sleeping side is woken up late, and not equally late on both sides, so this would compare wake-ups. */
static int exchange_check(const void *settings, const struct transport_config *config,
			  const struct transport_traits *traits, char *why, size_t why_size)
{
	(void)settings, (void)traits;
	if (config->poll_recv == POLL_BUSY)
		return 0;
	snprintf(why, why_size, "the kernel exchange needs `poll: busy`, not %s", poll_mode_names[config->poll_recv]);
	return -EINVAL;
}

const struct kernel_ops exchange_kernel = {
    .name = "exchange",
    .summary = "round trips with stamps on both sides: the latency in each direction",
    .options = exchange_options,
    .settings_size = sizeof(struct exchange_settings),
    .duplex = true,
    .columns = exchange_columns,
    .series = exchange_series,
    .threads = exchange_threads,
    .plan = exchange_plan,
    .demand = exchange_demand,
    .check = exchange_check,
};
