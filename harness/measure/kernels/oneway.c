#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "measure/kernels/oneway.h"

#define FIELD(f) offsetof(struct oneway_settings, f)

static const struct opt oneway_options[] = {
    {"messages", OPT_INT, FIELD(messages), "8000", 1, 1000000000, NULL, "number of messages in one repetition",
     OPT_BOOKKEEPING},
    {"size", OPT_BYTES, FIELD(size), "32B", 1, 1 << 30, NULL, "payload of a message"},
    {"burst", OPT_INT, FIELD(burst), "8000", 1, 1000000000, NULL,
     "messages posted back to back before the source waits for their completions"},
    {"pause", OPT_TIME, FIELD(pause), "0ns", 0, 3600000000000, NULL, "pause between two bursts"},
    {"gap", OPT_TIME, FIELD(gap), "0ns", 0, 1000000000, NULL, "time from one post to the next within a burst"},
    {"t_send", OPT_BOOL, FIELD(t_send), "no", 0, 0, NULL,
     "a third thread keeps writing the time into the payload, which shows when the device read it (needs size 8B, "
     "buffers 1, a CPU)"},
    {"t_hw", OPT_BOOL, FIELD(t_hw), "no", 0, 0, NULL,
     "also keep the device's own stamps of receive and send completions (verbs devices with completion timestamps)"},
    {"stages", OPT_BOOL, FIELD(stages), "no", 0, 0, NULL,
     "also keep the kernel's stamps of a message on its way: queued for the device, given to it, taken from it (tcp, "
     "udp: "
     "SO_TIMESTAMPING); reading them takes the source time after each post"},
    {"check", OPT_BOOL, FIELD(check), "no", 0, 0, NULL,
     "fill and check every payload, outside the measured intervals (slows the rate)"},
    {.name = NULL},
};

static const struct kernel_column oneway_columns[] = {
    [ONEWAY_T_SUBM] = {"t_subm", ROLE_SOURCE, NULL},
    [ONEWAY_T_COMP] = {"t_comp", ROLE_SOURCE, NULL},
    [ONEWAY_T_RECV] = {"t_recv", ROLE_SINK, NULL},
    [ONEWAY_T_SEND] = {"t_send", ROLE_SINK, "t_send", .from_source = true},
    [ONEWAY_T_HW] = {"t_hw", ROLE_SINK, KERNEL_BY_DEVICE},
    [ONEWAY_T_HW_COMP] = {"t_hw_comp", ROLE_SOURCE, KERNEL_BY_DEVICE},
    [ONEWAY_T_SCHED] = {"t_sched", ROLE_SOURCE, KERNEL_STAGES},
    [ONEWAY_T_SENT] = {"t_sent", ROLE_SOURCE, KERNEL_STAGES},
    [ONEWAY_T_DRIVER] = {"t_driver", ROLE_SINK, KERNEL_STAGES},
    [ONEWAY_T_SOCKET] = {"t_socket", ROLE_SINK, KERNEL_STAGES},
    {.name = NULL},
};

static const struct kernel_series oneway_series[] = {
    {.name = "lat_ns", .label = "t_lat", .column = "t_recv", .minus = "t_subm"},
    {.name = "comp_lat_ns", .label = "t_comp", .column = "t_comp", .minus = "t_subm", .sparse = true},
    {.name = "send_lat_ns", .label = "t_send", .column = "t_recv", .minus = "t_send", .with = "t_send"},
    {.name = "submit_ns", .label = "t_submit", .column = "t_send", .minus = "t_subm", .with = "t_send"},
    {.name = "hw_lat_ns", .label = "t_hw", .column = "t_hw", .minus = "t_subm", .with = KERNEL_BY_DEVICE},
    {.name = "hw_comp_lat_ns",
     .label = "t_hw_comp",
     .column = "t_hw_comp",
     .minus = "t_subm",
     .sparse = true,
     .with = KERNEL_BY_DEVICE},
    /* They add up to lat_ns. The kernel may leave out a stamp, so they are sparse. */
    {.name = "stack_ns",
     .label = "t_stack",
     .column = "t_sched",
     .minus = "t_subm",
     .sparse = true,
     .with = KERNEL_STAGES},
    {.name = "queue_ns",
     .label = "t_queue",
     .column = "t_sent",
     .minus = "t_sched",
     .sparse = true,
     .with = KERNEL_STAGES},
    {.name = "wire_ns",
     .label = "t_wire",
     .column = "t_driver",
     .minus = "t_sent",
     .sparse = true,
     .with = KERNEL_STAGES},
    {.name = "read_ns",
     .label = "t_read",
     .column = "t_recv",
     .minus = "t_driver",
     .sparse = true,
     .with = KERNEL_STAGES},
    /* And these to read_ns, where there are stamps of the socket. */
    {.name = "socket_ns",
     .label = "t_socket",
     .column = "t_socket",
     .minus = "t_driver",
     .sparse = true,
     .with = KERNEL_STAGES},
    {.name = "take_ns",
     .label = "t_take",
     .column = "t_recv",
     .minus = "t_socket",
     .sparse = true,
     .with = KERNEL_STAGES},
    {.name = NULL},
};

static const struct kernel_thread oneway_threads[] = {
    [ONEWAY_COMPLETIONS] = {.name = "completions", .side = ROLE_SOURCE, .sleeps = true},
    [ONEWAY_RESTAMP] = {.name = "restamp", .side = ROLE_SOURCE, .cpu = THREAD_SPARE, .with = "t_send"},
    [ONEWAY_SOURCE] = {.name = "source", .side = ROLE_SOURCE},
    [ONEWAY_SINK] = {.name = "sink", .side = ROLE_SINK},
    {.name = NULL},
};

KERNEL_FITS(oneway_columns, oneway_threads);

static void oneway_plan(const void *settings, struct transport_config *config)
{
	const struct oneway_settings *s = settings;

	config->size = s->size;
	config->rewrites = s->t_send;
	config->device_stamps = s->t_hw || s->stages;
	config->schedule = (struct schedule){.messages = s->messages, .burst = s->burst, .pause_ns = s->pause};
}

static struct kernel_demand oneway_demand(const void *settings, int64_t messages, bool warm_up)
{
	const struct oneway_settings *s = settings;
	const int64_t bursts = (messages + s->burst - 1) / s->burst;
	const int64_t pauses = bursts ? bursts - 1 : 0, gaps = messages - bursts;

	return (struct kernel_demand){.paced_ns = (warm_up ? 0 : pauses * s->pause) + gaps * s->gap,
				      .posts = s->gap ? bursts : messages,
				      .ways = bursts};
}

/* The restamping thread writes where messages are read, so there must be a single buffer of at
 * least the size of a stamp, which is sent with its current content. */
static int check_t_send(const struct oneway_settings *s, const struct transport_traits *traits, char *why,
			size_t why_size)
{
	if (!s->t_send)
		return 0;
	if (s->size < 8)
		snprintf(why, why_size, "t_send needs a size of at least 8B, for the stamp");
	else if (s->check)
		snprintf(why, why_size, "t_send changes the payload that `check: yes` checks");
	else if (traits->buffers >= 0 && traits->buffers != 1)
		snprintf(why, why_size, "t_send needs `buffers: 1`, the one that is written, not %lld",
			 (long long)traits->buffers);
	else if (traits->copies_payload)
		snprintf(why, why_size, "t_send needs `inline: off`: an inline payload is copied when it is posted");
	else if (traits->signal_every > 1)
		snprintf(
		    why, why_size,
		    "t_send needs `signal_every: 1`, not %u: only a completion shows when the payload was last read",
		    traits->signal_every);
	else
		return 0;
	return -EINVAL;
}

static int check_t_hw(const struct oneway_settings *s, const struct transport_ops *transport, char *why,
		      size_t why_size)
{
	if (!s->t_hw || (transport->read_clock && !transport->stamps_stages))
		return 0;
	snprintf(why, why_size, "t_hw and transport %s: no device stamps its completions; use transport verbs",
		 transport->name);
	return -EINVAL;
}

static int check_stages(const struct oneway_settings *s, const struct transport_ops *transport, char *why,
			size_t why_size)
{
	if (!s->stages || transport->stamps_stages)
		return 0;
	snprintf(why, why_size, "stages and transport %s: the kernel does not stamp its messages; use tcp or udp",
		 transport->name);
	return -EINVAL;
}

static int oneway_check(const void *settings, const struct transport_config *config,
			const struct transport_traits *traits, char *why, size_t why_size)
{
	int rc = check_t_send(settings, traits, why, why_size);

	if (!rc)
		rc = check_t_hw(settings, config->ops, why, why_size);
	if (!rc && ((const struct oneway_settings *)settings)->check)
		rc = kernel_check_payloads(config, traits, why, why_size);
	return rc ? rc : check_stages(settings, config->ops, why, why_size);
}

static void oneway_rules(const void *settings, struct kernel_rules *out)
{
	const struct oneway_settings *s = settings;

	out->restamps = s->t_send;
}

const struct kernel_ops oneway_kernel = {
    .name = "oneway",
    .summary = "one-way latency: submission, send completion and reception of every message",
    .options = oneway_options,
    .settings_size = sizeof(struct oneway_settings),
    .columns = oneway_columns,
    .series = oneway_series,
    .threads = oneway_threads,
    .plan = oneway_plan,
    .demand = oneway_demand,
    .check = oneway_check,
    .rules = oneway_rules,
};
