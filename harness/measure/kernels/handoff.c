#include "measure/kernels/handoff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/or_abort.h"
#include "measure/kernels/register.h"

#define FIELD(f) offsetof(struct handoff_settings, f)

static const char *const handoff_hands[] = {
    [HANDOFF_DIRECT] = "direct", [HANDOFF_SPIN] = "spin", [HANDOFF_EVENT] = "event", [HANDOFF_YIELD] = "yield", NULL};

static const struct opt handoff_options[] = {
    {"messages", OPT_INT, FIELD(messages), "1000", 1, HANDOFF_ACK - 1, NULL,
     "maximum number of round trips in one repetition", OPT_BOOKKEEPING},
    {"size", OPT_BYTES, FIELD(size), "32B", 1, 1 << 30, NULL, "payload of a message, in either direction"},
    {"hand", OPT_ENUM, FIELD(hand), "event", 0, 0, handoff_hands,
     "how the thread that waits for a message gets it: it receives the message itself, spins on a shared variable "
     "until another thread has received it (two CPUs on each side), sleeps until it is woken, or spins and gives the "
     "CPU up between looks (one CPU on each side, which both threads share)"},
    {"ack", OPT_BOOL, FIELD(ack), "yes", 0, 0, NULL,
     "acknowledge every message by a message for which its sender waits"},
    {"copy", OPT_BOOL, FIELD(copy), "yes", 0, 0, NULL,
     "copy payloads between the user's memory and the transport's buffers, on both sides"},
    {"unexpected", OPT_BOOL, FIELD(unexpected), "no", 0, 0, NULL,
     "messages arrive before anybody waits for them, so the layer keeps each in memory of its own, from where it is "
     "copied to the user's (one copy more; needs copy)"},
    {"register", OPT_BOOL, FIELD(registers), "no", 0, 0, NULL,
     "register the user's memory for each message, on both sides, and undo that afterwards, instead of copying; "
     "without a device, lock and unlock it"},
    {"retry", OPT_TIME, FIELD(retry), "0ns", 0, 60000000000, NULL,
     "send a message again that was neither acknowledged nor answered in this time, until lost_after (unreliable "
     "transports); 0: never"},
    {"duration", OPT_TIME, FIELD(duration), "0ns", 0, 3600000000000, NULL,
     "time limit of a repetition, if `messages` are not done before; 0: none"},
    {"lost_after", OPT_TIME, FIELD(lost_after), "1s", 1000, 60000000000, NULL,
     "after this time without an acknowledgement or an answer a round trip is lost, and the next begins (unreliable "
     "transports)"},
    KERNEL_LINK_RATE(FIELD(link_rate)),
    {"check", OPT_BOOL, FIELD(check), "no", 0, 0, NULL,
     "fill and check every payload in both directions, outside the measured intervals"},
    {.name = NULL},
};

static const struct kernel_column handoff_columns[] = {
    [HANDOFF_T_SUBM] = {"t_subm", ROLE_SOURCE, NULL},
    [HANDOFF_T_SEEN] = {"t_seen", ROLE_SOURCE, NULL},
    [HANDOFF_T_BACK] = {"t_back", ROLE_SOURCE, NULL},
    {.name = NULL},
};

static const struct kernel_series handoff_series[] = {
    {.name = "half_rtt_ns", .label = "t_rtt/2", .column = "t_back", .minus = "t_subm", .divide = 2},
    {.name = "rtt_ns", .label = "t_rtt", .column = "t_back", .minus = "t_subm"},
    {.name = "hand_ns", .label = "t_hand", .column = "t_back", .minus = "t_seen"},
    {.name = NULL},
};

static const char *const handoff_transports[] = {"verbs", "shmem", "udp", "xdp", "dpdk", NULL};

/* --- threads --- */

/* If the user spins, each thread has a CPU of its own; if it yields, both share the side's; otherwise the thread that
 * spins has the side's. */
static enum thread_cpu messenger_cpu(const void *settings)
{
	const struct handoff_settings *s = settings;

	return s->hand == HANDOFF_DIRECT ? THREAD_NONE : s->hand == HANDOFF_SPIN ? THREAD_SPARE : THREAD_OF_SIDE;
}

static enum thread_cpu user_cpu(const void *settings)
{
	const struct handoff_settings *s = settings;

	return s->hand == HANDOFF_EVENT ? THREAD_ELSEWHERE : THREAD_OF_SIDE;
}

static bool handoff_spins(const void *settings)
{
	const struct handoff_settings *s = settings;

	return s->hand == HANDOFF_SPIN || s->hand == HANDOFF_YIELD;
}

#define MESSENGER "hand spin"

static const struct kernel_thread handoff_threads[] = {
    [HANDOFF_SOURCE_MESSENGER] = {.name = "messenger",
				  .side = ROLE_SOURCE,
				  .place = messenger_cpu,
				  .setting = MESSENGER},
    [HANDOFF_SOURCE] = {.name = "source", .side = ROLE_SOURCE, .place = user_cpu},
    [HANDOFF_SINK_MESSENGER] = {.name = "messenger", .side = ROLE_SINK, .place = messenger_cpu, .setting = MESSENGER},
    [HANDOFF_SINK] = {.name = "sink", .side = ROLE_SINK, .place = user_cpu},
    {.name = NULL},
};

KERNEL_FITS(handoff_columns, handoff_threads);

/* --- what follows from the settings --- */

static void handoff_plan(const void *settings, struct transport_config *config)
{
	const struct handoff_settings *s = settings;

	config->size = s->size;
	config->acknowledges = s->ack;
	config->schedule = (struct schedule){.messages = s->messages};
}

static struct kernel_demand handoff_demand(const void *settings, int64_t messages, bool warm_up)
{
	const struct handoff_settings *s = settings;

	(void)warm_up;
	return (struct kernel_demand){.ways = (2 + 2 * (s->hand != HANDOFF_DIRECT) + s->ack) * messages,
				      .limit_ns = s->duration};
}

static int handoff_check(const void *settings, const struct transport_config *config,
			 const struct transport_traits *traits, char *why, size_t why_size)
{
	const struct handoff_settings *s = settings;

	(void)traits;
	if (s->ack && config->depth < 2)
		snprintf(why, why_size,
			 "ack and depth %lld: a message and an acknowledgement may be in flight at the same time; use "
			 "depth 2 or more",
			 (long long)config->depth);
	else if (s->retry && !s->ack)
		snprintf(why, why_size, "retry without ack: nobody would know that a message was lost; use ack yes");
	else if (s->retry >= s->lost_after)
		snprintf(why, why_size,
			 "retry %lld ns and lost_after %lld ns: the message is given up before it is "
			 "sent again; use a shorter retry",
			 (long long)s->retry, (long long)s->lost_after);
	else if (s->registers && s->copy)
		snprintf(why, why_size, "register and copy: memory that is registered need not be copied; use copy no");
	else if (s->unexpected && !s->copy)
		snprintf(why, why_size,
			 "unexpected and copy no: a kept message must be copied to its user; use copy "
			 "yes");
	else
		return 0;
	return -EINVAL;
}

/* --- what the threads of a side share --- */

static void handoff_close(void *arg)
{
	struct handoff_side *side = arg;

	memory_free(&side->in);
	memory_free(&side->out);
	memory_free(&side->kept);
	free(side);
}

static int handoff_open(const void *settings, const struct kernel_place *place, void **out, struct err *e)
{
	const struct handoff_settings *s = settings;
	struct handoff_side *side = or_abort(aligned_alloc(64, sizeof(*side)));
	int rc;

	memset(side, 0, sizeof(*side));
	side->registers = s->registers;
	rc = memory_alloc(&side->in, (size_t)s->size, place->numa_node, e);
	if (!rc)
		rc = memory_alloc(&side->out, (size_t)s->size, place->numa_node, e);
	if (!rc && s->unexpected)
		rc = memory_alloc(&side->kept, (size_t)s->size, place->numa_node, e);
	if (rc) {
		handoff_close(side);
		return rc;
	}
	*out = side;
	return 0;
}

static int handoff_start(void *arg, unsigned repetition, struct err *e)
{
	struct handoff_side *side = arg;

	(void)repetition, (void)e;
	if (side->registers) { /* The endpoint has locked all of its memory, including the user's. */
		register_unlock(side->in.data, side->in.size);
		register_unlock(side->out.data, side->out.size);
	}
	side->next = 0;
	side->retries = 0;
	side->failed = NULL;
	handover_reset(&side->message);
	handover_reset(&side->ack);
	atomic_flag_clear(&side->posting);
	side->posted = side->done = side->until_signal = 0;
	atomic_store(&side->user_ended, false);
	atomic_store(&side->messenger_runs, false);
	side->is_acked = side->is_pending = false;
	return 0;
}

static int handoff_finish(void *arg, struct counters *c, struct err *e)
{
	const struct handoff_side *side = arg;

	c->retries = side->retries;
	if (!side->failed)
		return 0;
	return err_set(e, side->failure, STATUS_FAILED, "the user's memory", side->failed,
		       "%s; is the limit on locked memory (ulimit -l) large enough?", strerror(-side->failure));
}

static const struct kernel_side_ops handoff_side_ops = {
    .open = handoff_open, .start = handoff_start, .finish = handoff_finish, .close = handoff_close};

static void handoff_rules(const void *settings, struct kernel_rules *out)
{
	const struct handoff_settings *s = settings;

	out->yields = s->hand == HANDOFF_YIELD;
}

const struct kernel_ops handoff_kernel = {
    .name = "handoff",
    .summary = "round trips through a message layer: acknowledgements, copies, hand-over between threads",
    .options = handoff_options,
    .settings_size = sizeof(struct handoff_settings),
    .duplex = true,
    .columns = handoff_columns,
    .series = handoff_series,
    .threads = handoff_threads,
    .spins = handoff_spins,
    .plan = handoff_plan,
    .demand = handoff_demand,
    .check = handoff_check,
    .rules = handoff_rules,
    .side = &handoff_side_ops,
    .transports = handoff_transports,
};
