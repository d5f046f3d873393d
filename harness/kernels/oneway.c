#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kernels/oneway.h"
#include "transports/list.h"

#define FIELD(f) offsetof(struct oneway_settings, f)

static const struct opt oneway_options[] = {
    {"messages", OPT_INT, FIELD(messages), "8000", 1, 1000000000, NULL, "messages of one repetition"},
    {"size", OPT_BYTES, FIELD(size), "32B", 1, 1 << 30, NULL, "payload of a message"},
    {"burst", OPT_INT, FIELD(burst), "8000", 1, 1000000000, NULL,
     "messages posted back to back before the source waits for their completions"},
    {"pause", OPT_TIME, FIELD(pause), "0ns", 0, 3600000000000, NULL, "between bursts"},
    {"gap", OPT_TIME, FIELD(gap), "0ns", 0, 1000000000, NULL, "from one post to the next inside a burst"},
    {"t_send", OPT_BOOL, FIELD(t_send), "no", 0, 0, NULL,
     "a third thread keeps writing the time into the payload: when the device read it (needs size 8B, buffers 1, a "
     "CPU)"},
    {"t_hw", OPT_BOOL, FIELD(t_hw), "no", 0, 0, NULL,
     "the device's own stamps of receive and send completions, too (verbs devices with completion timestamps)"},
    {"check", OPT_BOOL, FIELD(check), "no", 0, 0, NULL,
     "fill and check every payload, outside the measured intervals (slows the rate)"},
    {.name = NULL},
};

static const struct kernel_column oneway_columns[] = {
    [ONEWAY_T_SUBM] = {"t_subm", ROLE_SOURCE, NULL},
    [ONEWAY_T_COMP] = {"t_comp", ROLE_SOURCE, NULL},
    [ONEWAY_T_RECV] = {"t_recv", ROLE_SINK, NULL},
    [ONEWAY_T_SEND] = {"t_send", ROLE_SINK, "t_send"},
    [ONEWAY_T_HW] = {"t_hw", ROLE_SINK, KERNEL_BY_DEVICE},
    [ONEWAY_T_HW_COMP] = {"t_hw_comp", ROLE_SOURCE, KERNEL_BY_DEVICE},
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
    {.name = NULL},
};

#define LOOPS(t)    extern const struct kernel_loops oneway_loops_##t;
#define INSTANCE(t) {#t, &oneway_loops_##t},
EVERY_TRANSPORT(LOOPS)

static const struct kernel_instance oneway_instances[] = {EVERY_TRANSPORT(INSTANCE){NULL, NULL}};

/* The restamping thread writes where messages are read: one buffer of at least a stamp's size, sent as it is at that moment. */
static int check_t_send(const json_t *params, char *why, size_t why_size)
{
	const json_t *every = json_object_get(params, "signal_every");
	const json_t *buffers = json_object_get(params, "buffers"), *inlined = json_object_get(params, "inline");

	if (!json_is_true(json_object_get(params, "t_send")))
		return 0;
	if (json_integer_value(json_object_get(params, "size_bytes")) < 8)
		snprintf(why, why_size, "t_send wants a size of at least 8B, the stamp's");
	else if (json_is_true(json_object_get(params, "check")))
		snprintf(why, why_size, "t_send changes the payload that `check: yes` checks");
	else if (buffers && json_integer_value(buffers) != 1)
		snprintf(why, why_size, "t_send wants `buffers: 1`, the one that is written, not %lld",
			 (long long)json_integer_value(buffers));
	else if (json_is_string(inlined) && strcmp(json_string_value(inlined), "off"))
		snprintf(why, why_size, "t_send wants `inline: off`: an inline payload is copied when it is posted");
	else if (json_integer_value(every) > 1)
		snprintf(why, why_size,
			 "t_send wants `signal_every: 1`, not %lld: without a completion nobody knows when the payload "
			 "was read for the last time",
			 (long long)json_integer_value(every));
	else
		return 0;
	return -EINVAL;
}

static int check_t_hw(const json_t *params, char *why, size_t why_size)
{
	const char *name = json_string_value(json_object_get(params, "transport"));
	const struct transport_ops *transport = name ? transport_find(name) : NULL;

	if (!json_is_true(json_object_get(params, KERNEL_BY_DEVICE)) || (transport && transport->read_clock))
		return 0;
	snprintf(why, why_size, "t_hw and transport %s: no device stamps its completions; use transport verbs",
		 name ? name : "?");
	return -EINVAL;
}

static int oneway_check(const json_t *params, char *why, size_t why_size)
{
	int rc = check_t_send(params, why, why_size);

	return rc ? rc : check_t_hw(params, why, why_size);
}

const struct kernel_ops oneway_kernel = {
    .name = "oneway",
    .summary = "one-way latency: submission, send completion and reception of every message",
    .options = oneway_options,
    .settings_size = sizeof(struct oneway_settings),
    .columns = oneway_columns,
    .series = oneway_series,
    .check = oneway_check,
    .instances = oneway_instances,
};
