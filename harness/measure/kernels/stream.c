#include "measure/kernels/stream.h"

#include <errno.h>
#include <stdio.h>

#define FIELD(f) offsetof(struct stream_settings, f)

static const struct opt stream_options[] = {
    {"messages", OPT_INT, FIELD(messages), "100000", 1, 1000000000, NULL,
     "maximum number of messages in one repetition, in each direction", OPT_BOOKKEEPING},
    {"size", OPT_BYTES, FIELD(size), "4KiB", 1, 1 << 30, NULL, "payload of a message"},
    {"both", OPT_BOOL, FIELD(both), "no", 0, 0, NULL, "both sides send, at the same time"},
    {"batch", OPT_INT, FIELD(batch), "1", 1, 1 << 16, NULL,
     "messages posted as one linked list, with one doorbell (verbs)"},
    {"stamp_every", OPT_INT, FIELD(stamp_every), "1", 1, 1000000000, NULL,
     "number of messages that share one entry of each column: the submission of the first, the completion of the last"},
    {"duration", OPT_TIME, FIELD(duration), "0ns", 0, 3600000000000, NULL,
     "time limit of a repetition, if `messages` are not done before; 0: none"},
    KERNEL_LINK_RATE(FIELD(link_rate)),
    {"check", OPT_BOOL, FIELD(check), "no", 0, 0, NULL, "fill and check every payload (slows the rate)"},
    {.name = NULL},
};

static const struct kernel_column stream_columns[] = {
    [STREAM_T_SUBM] = {"t_subm", ROLE_SOURCE, NULL},
    [STREAM_T_COMP] = {"t_comp", ROLE_SOURCE, NULL},
    [STREAM_T_SUBM_BACK] = {"t_subm_back", ROLE_SINK, "both"},
    [STREAM_T_COMP_BACK] = {"t_comp_back", ROLE_SINK, "both"},
    {.name = NULL},
};

/* A message without a completion is not lost; losses come from the counters of both sides. */
static const struct kernel_series stream_series[] = {
    {.name = "gap_ns", .label = "t_gap", .column = "t_comp", .lag = true, .sparse = true},
    {.name = "comp_lat_ns", .label = "t_comp", .column = "t_comp", .minus = "t_subm", .sparse = true},
    {.name = "gap_back_ns",
     .label = "t_gap back",
     .column = "t_comp_back",
     .lag = true,
     .sparse = true,
     .with = "both"},
    {.name = "comp_lat_back_ns",
     .label = "t_comp back",
     .column = "t_comp_back",
     .minus = "t_subm_back",
     .sparse = true,
     .with = "both"},
    {.name = NULL},
};

static const struct kernel_thread stream_threads[] = {
    [STREAM_SOURCE] = {.name = "source", .side = ROLE_SOURCE},
    [STREAM_SINK] = {.name = "sink", .side = ROLE_SINK},
    {.name = NULL},
};

KERNEL_FITS(stream_columns, stream_threads);

static void stream_plan(const void *settings, struct transport_config *config)
{
	const struct stream_settings *s = settings;

	config->size = s->size;
	config->duplex = s->both;
	config->batch = s->batch > 1 ? s->batch : 0;
	config->is_stream = config->is_passive = true;
	/* With `both` and a duration, messages must carry numbers, because the end is a message
	 * with a special number (stream_loop.c). */
	config->any_payload = !s->check && !(s->both && s->duration);
	config->schedule = (struct schedule){.messages = s->messages, .block = s->stamp_every};
}

static struct kernel_demand stream_demand(const void *settings, int64_t messages, bool warm_up)
{
	const struct stream_settings *s = settings;

	(void)warm_up;
	return (struct kernel_demand){.posts = messages, .limit_ns = s->duration};
}

static int check_both(const struct stream_settings *s, const struct transport_config *config,
		      const struct transport_traits *traits, char *why, size_t why_size)
{
	if (!s->both)
		return 0;
	if (traits->is_one_sided && s->check)
		snprintf(why, why_size,
			 "both, check and a one-sided op: only the sink's memory is checked; leave out both or check");
	else if (config->poll_recv != POLL_BUSY || config->poll_send != POLL_BUSY)
		snprintf(why, why_size,
			 "both and poll %s: one thread sends and receives, so it cannot sleep waiting for either; use "
			 "poll busy",
			 poll_mode_names[config->poll_recv != POLL_BUSY ? config->poll_recv : config->poll_send]);
	else if (config->ops->has_own_clock)
		snprintf(why, why_size, "both and transport %s: its sink has no messages of its own",
			 config->ops->name);
	else
		return 0;
	return -EINVAL;
}

static int check_batch(const struct stream_settings *s, const struct transport_config *config, char *why,
		       size_t why_size)
{
	if (s->batch == 1)
		return 0;
	if (!config->ops->posts_lists)
		snprintf(why, why_size,
			 "batch %lld and transport %s: it posts messages one by one; use transport verbs",
			 (long long)s->batch, config->ops->name);
	else if (s->batch > config->depth)
		snprintf(why, why_size, "batch %lld and depth %lld: a list is posted when there is room for all of it",
			 (long long)s->batch, (long long)config->depth);
	else
		return 0;
	return -EINVAL;
}

static int stream_check(const void *settings, const struct transport_config *config,
			const struct transport_traits *traits, char *why, size_t why_size)
{
	int rc = check_both(settings, config, traits, why, why_size);

	if (!rc)
		rc = check_batch(settings, config, why, why_size);
	return rc || !((const struct stream_settings *)settings)->check
		   ? rc
		   : kernel_check_payloads(config, traits, why, why_size);
}

const struct kernel_ops stream_kernel = {
    .name = "stream",
    .summary = "bandwidth and message rate: many messages in flight, in one direction or both",
    .options = stream_options,
    .settings_size = sizeof(struct stream_settings),
    .source_sleeps = true,
    .counts_loss = true,
    .columns = stream_columns,
    .series = stream_series,
    .threads = stream_threads,
    .plan = stream_plan,
    .demand = stream_demand,
    .check = stream_check,
};
