#include "measure/kernels/pingpong.h"

#include <errno.h>
#include <stdio.h>

#include "measure/transports/transport_list.h"

#define FIELD(f) offsetof(struct pingpong_settings, f)

static const char *const release_names[] = {
    [PINGPONG_RELEASE_AFTER] = "after", [PINGPONG_RELEASE_BEFORE] = "before", NULL};

static const struct opt pingpong_options[] = {
    {"messages", OPT_INT, FIELD(messages), "1000", 1, 1000000000, NULL,
     "maximum number of round trips in one repetition", OPT_BOOKKEEPING},
    {"size", OPT_BYTES, FIELD(size), "32B", 1, 1 << 30, NULL,
     "payload of a message, and of its answer unless `answer` is set"},
    {"answer", OPT_BYTES, FIELD(answer), "0B", 0, 1 << 30, NULL,
     "payload of an answer, such as the data of a read or the confirmation of a write; 0: as large as the message"},
    {"duration", OPT_TIME, FIELD(duration), "0ns", 0, 3600000000000, NULL,
     "time limit of a repetition, if `messages` are not done before; 0: none"},
    {"pause", OPT_TIME, FIELD(pause), "0ns", 0, 3600000000000, NULL, "time from an answer to the next message"},
    {"lost_after", OPT_TIME, FIELD(lost_after), "1s", 1000, 60000000000, NULL,
     "after this time without an answer a round trip is lost, and the next begins (unreliable transports)"},
    KERNEL_LINK_RATE(FIELD(link_rate)),
    {"release", OPT_ENUM, FIELD(release), "after", 0, 0, release_names,
     "when the sink gives a message's receive buffer back: after it has posted the answer, or before"},
    {"turn", OPT_BOOL, FIELD(turn), "no", 0, 0, NULL,
     "the sink also stamps each message that it has polled (series turn_ns, from one to the next); this adds a stamp "
     "before the answer"},
    {"check", OPT_BOOL, FIELD(check), "no", 0, 0, NULL,
     "fill and check every payload in both directions, outside the measured intervals"},
    {.name = NULL},
};

static const struct kernel_column pingpong_columns[] = {
    [PINGPONG_T_SUBM] = {"t_subm", ROLE_SOURCE, NULL},
    [PINGPONG_T_BACK] = {"t_back", ROLE_SOURCE, NULL},
    [PINGPONG_T_TURN] = {"t_turn", ROLE_SINK, "turn"},
    {.name = NULL},
};

static const struct kernel_series pingpong_series[] = {
    {.name = "half_rtt_ns", .label = "t_rtt/2", .column = "t_back", .minus = "t_subm", .divide = 2},
    {.name = "rtt_ns", .label = "t_rtt", .column = "t_back", .minus = "t_subm"},
    {.name = "turn_ns", .label = "t_turn", .column = "t_turn", .lag = true, .with = "turn"},
    {.name = NULL},
};

#define LOOPS(t)    extern const struct kernel_loops pingpong_loops_##t;
#define INSTANCE(t) {#t, &pingpong_loops_##t},
EVERY_TRANSPORT(LOOPS)

static const struct kernel_instance pingpong_instances[] = {EVERY_TRANSPORT(INSTANCE){NULL, NULL}};

static const struct kernel_thread pingpong_threads[] = {
    [PINGPONG_SOURCE] = {.name = "source", .side = ROLE_SOURCE},
    [PINGPONG_SINK] = {.name = "sink", .side = ROLE_SINK},
    {.name = NULL},
};

KERNEL_FITS(pingpong_columns, pingpong_threads);

static void pingpong_plan(const void *settings, struct transport_config *config)
{
	const struct pingpong_settings *s = settings;

	config->size = s->size;
	config->answer = s->answer == s->size ? 0 : s->answer;
	config->schedule = (struct schedule){.messages = s->messages, .pause_ns = s->pause};
}

static int pingpong_check(const void *settings, const struct transport_config *config,
			  const struct transport_traits *traits, char *why, size_t why_size)
{
	const struct pingpong_settings *s = settings;

	(void)traits;
	if (!config->answer || config->ops->answers_differ)
		return 0;
	snprintf(why, why_size, "answer %lld and transport %s: all its messages have the size %lld",
		 (long long)s->answer, config->ops->name, (long long)s->size);
	return -EINVAL;
}

static struct kernel_demand pingpong_demand(const void *settings, int64_t messages, bool warm_up)
{
	const struct pingpong_settings *s = settings;

	return (struct kernel_demand){
	    .paced_ns = warm_up ? 0 : messages * s->pause, .ways = 2 * messages, .limit_ns = s->duration};
}

const struct kernel_ops pingpong_kernel = {
    .name = "pingpong",
    .summary = "round trips, one at a time, and half of each",
    .options = pingpong_options,
    .settings_size = sizeof(struct pingpong_settings),
    .duplex = true,
    .columns = pingpong_columns,
    .series = pingpong_series,
    .threads = pingpong_threads,
    .plan = pingpong_plan,
    .check = pingpong_check,
    .demand = pingpong_demand,
    .instances = pingpong_instances,
};
