#include "measure/kernels/pingpong.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/monotonic.h"
#include "common/or_abort.h"

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
    {"serve", OPT_TIME, FIELD(serve), "0ns", 0, 1000000000, NULL,
     "how long the sink works on each message before it answers, as a server does"},
    {"backups", OPT_INT, FIELD(backups), "0", 0, 16, NULL,
     "how many flows with the kernel `backup` the sink waits for before it answers: what each has confirmed is stored"},
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
    {"work", OPT_BOOL, FIELD(work), "no", 0, 0, NULL,
     "a thread computes on the sink's CPU while messages come, and then alone (block work: how much slower it was)"},
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

static enum thread_cpu work_cpu(const void *settings)
{
	const struct pingpong_settings *s = settings;

	return s->work ? THREAD_OF_SIDE : THREAD_NONE;
}

/* A computation does, so the sink has a CPU of its own even if it sleeps. */
static bool pingpong_spins(const void *settings)
{
	const struct pingpong_settings *s = settings;

	return s->work;
}

static const struct kernel_thread pingpong_threads[] = {
    [PINGPONG_SOURCE] = {.name = "source", .side = ROLE_SOURCE},
    [PINGPONG_SINK] = {.name = "sink", .side = ROLE_SINK},
    [PINGPONG_WORK] = {.name = "work", .side = ROLE_SINK, .place = work_cpu},
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

	if (config->answer && !config->ops->answers_differ)
		snprintf(why, why_size, "answer %lld and transport %s: all its messages have the size %lld",
			 (long long)s->answer, config->ops->name, (long long)s->size);
	else if (s->serve >= s->lost_after && !traits->is_reliable)
		snprintf(why, why_size,
			 "serve %lld ns and lost_after %lld ns: the message is given up before it is "
			 "answered; use a longer lost_after",
			 (long long)s->serve, (long long)s->lost_after);
	else if ((s->work || s->serve || s->backups) && config->ops->has_own_clock)
		snprintf(why, why_size, "%s and transport %s: a computation takes real time, and this time is not",
			 s->work    ? "work"
			 : s->serve ? "serve"
				    : "backups",
			 config->ops->name);
	else if (s->backups && (s->duration || !traits->is_reliable))
		snprintf(why, why_size,
			 "backups and %s: a write that is never answered would leave the backups waiting",
			 s->duration ? "duration" : "an unreliable transport");
	else
		return 0;
	return -EINVAL;
}

static struct kernel_demand pingpong_demand(const void *settings, int64_t messages, bool warm_up)
{
	const struct pingpong_settings *s = settings;

	return (struct kernel_demand){.paced_ns = messages * s->serve + (warm_up ? 0 : messages * s->pause),
				      .ways = 2 * messages,
				      .limit_ns = s->duration};
}

/* --- a computation beside the messages --- */

#define WORK_STEPS    1024     /* of a unit, which takes about a microsecond */
#define WORK_ALONE_NS 50000000 /* how long it computes alone */

static uint64_t work_unit(uint64_t x)
{
	for (unsigned i = 0; i < WORK_STEPS; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return x;
}

/* Its own CPU time is not that of communication, so it is subtracted from what the endpoint adds up. */
int pingpong_compute(struct worker *w)
{
	const struct sched_param none = {0};
	const struct pingpong_side *side = w->side;
	const int64_t cpu = thread_cpu_ns();
	volatile uint64_t result;
	uint64_t x = 88172645463325252;
	int64_t units = 0, since;

	/* At a real-time priority it would keep the sink off the CPU. */
	sched_setscheduler(0, SCHED_OTHER, &none);
	while (!atomic_load_explicit(&w->progress, memory_order_relaxed) && !atomic_load(&side->has_ended))
		x = work_unit(x);
	for (since = monotonic_ns(); !atomic_load_explicit(&side->has_ended, memory_order_relaxed); units++)
		x = work_unit(x);
	w->counters.work_ns = monotonic_ns() - since;
	w->counters.work_units = units;
	if (!w->is_warm_up) {
		for (since = monotonic_ns(), units = 0; monotonic_ns() - since < WORK_ALONE_NS; units++)
			x = work_unit(x);
		w->counters.work_alone_ns = monotonic_ns() - since;
		w->counters.work_alone_units = units;
	}
	result = x;
	(void)result;
	w->counters.cpu_ns = cpu - thread_cpu_ns();
	return 0;
}

static int pingpong_open(const void *settings, const struct kernel_place *place, void **side, struct err *e)
{
	const struct pingpong_settings *s = settings;
	struct pingpong_side *own;
	int rc;

	if (place->role == ROLE_SOURCE || (!s->work && !s->backups))
		return 0;
	own = or_abort(aligned_alloc(64, sizeof(*own)));
	*own = (struct pingpong_side){.view.counters = NULL};
	rc = s->backups ? shared_counters_open(&own->view, place, e) : 0;
	if (rc)
		free(own);
	else
		*side = own;
	return rc;
}

static int pingpong_start(void *arg, unsigned repetition, struct err *e)
{
	struct pingpong_side *side = arg;

	(void)repetition, (void)e;
	atomic_store(&side->has_ended, false);
	if (side->view.counters)
		shared_counters_start(&side->view);
	return 0;
}

static void pingpong_close(void *side)
{
	shared_counters_close(&((struct pingpong_side *)side)->view);
	free(side);
}

static int64_t pingpong_backups(const void *settings)
{
	return ((const struct pingpong_settings *)settings)->backups;
}

static int pingpong_finish(void *side, struct counters *c, struct err *e)
{
	(void)side, (void)c, (void)e;
	return 0;
}

static const struct kernel_side_ops pingpong_side_ops = {
    .open = pingpong_open, .start = pingpong_start, .finish = pingpong_finish, .close = pingpong_close};

static void pingpong_rules(const void *settings, struct kernel_rules *out)
{
	const struct pingpong_settings *s = settings;

	out->yields = s->work; /* the sink shares its CPU, as intended */
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
    .spins = pingpong_spins,
    .plan = pingpong_plan,
    .check = pingpong_check,
    .demand = pingpong_demand,
    .rules = pingpong_rules,
    .backups = pingpong_backups,
    .side = &pingpong_side_ops,
};
