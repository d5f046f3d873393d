/*
 * The bandwidth, by the sender's stamps.
 *
 * For kernels with the columns t_subm and t_back: one message is under way at a time, and only the
 * time of the round trips counts, without the time between them.
 *
 * For kernels with the columns t_subm and t_comp that count what was received: a repetition lasts
 * from its first submission to its last completion. If there is a way back (t_subm_back,
 * t_comp_back), both directions are added.
 *
 * {"messages_per_s", "bytes_per_s", "delivered_bytes_per_s", "link_bits_per_s", "link_share"}.
 * delivered_bytes_per_s is computed from what was received, from the first reception to the last,
 * and null if the other side takes no part. link_bits_per_s, per direction, comes from a setting or
 * from the device; if neither is known, it and link_share are null. Only payload counts, without
 * what transports and networks add.
 */

#include "common/npy.h"
#include "judge/analysis/param.h"
#include "judge/analysis/summary.h"

/* One way, from one side to the other. */
struct way {
	const char *from, *to; /* names of the sides in counters.json */
	const char *submitted, *completed;
};

static const struct way there = {"source", "sink", "t_subm", "t_comp"},
			back = {"sink", "source", "t_subm_back", "t_comp_back"};

struct moved {
	double messages, seconds;	      /* from the first submission to the last completion */
	double delivered, delivering_seconds; /* from the first reception to the last */
};

/* 0 if nothing was completed. */
static double seconds_between(const struct npy *submitted, const struct npy *completed)
{
	size_t last = completed->count;

	while (last && completed->data[last - 1] == NEVER)
		last--;
	if (!last || submitted->data[0] == NEVER)
		return 0;
	return ((double)completed->data[last - 1] - (double)submitted->data[0]) / 1e9;
}

static struct moved sum_way(const struct layout_flow *f, const struct way *w, const struct rep *reps, size_t count)
{
	int submitted = layout_column(f, w->submitted), completed = layout_column(f, w->completed);
	struct moved m = {0};

	for (size_t i = 0; submitted >= 0 && completed >= 0 && i < count; i++) {
		const json_int_t received = rep_counter(&reps[i], w->to, "received");

		m.seconds += seconds_between(&reps[i].columns[submitted], &reps[i].columns[completed]);
		m.messages += (double)rep_counter(&reps[i], w->from, "completed");
		m.delivered += received > 1 ? (double)(received - 1) : 0;
		m.delivering_seconds += (double)rep_counter(&reps[i], w->to, "receiving_ns") / 1e9;
	}
	return m;
}

static double per_second(double amount, double seconds)
{
	return seconds > 0 ? amount / seconds : 0;
}

static struct number positive(double value)
{
	return value > 0 ? number_real(value) : number_none();
}

/* From the settings, or if they do not set it, from the device of the source. 0: unknown. */
static json_int_t link_of(const struct layout_flow *f, const json_t *granted)
{
	const json_int_t asked = param_integer(f->params, "link_rate");

	return asked ? asked
		     : json_integer_value(json_object_get(json_object_get(granted, "source"), "link_bits_per_s"));
}

/* `ways`: directions in which the link is used at once. */
static void set_rates(struct number *n, double messages, double bytes, double delivered, json_int_t link, int ways)
{
	n[RATE_MESSAGES_PER_S] = positive(messages);
	n[RATE_BYTES_PER_S] = positive(bytes);
	n[RATE_DELIVERED_BYTES_PER_S] = positive(delivered);
	n[RATE_LINK_BITS_PER_S] = link > 0 ? number_integer(link) : number_none();
	n[RATE_LINK_SHARE] = link > 0 ? positive(bytes * 8 / ((double)link * ways)) : number_none();
}

/* --- round trips --- */

struct trips {
	double count, seconds;
};

static void add_trips(struct trips *t, const struct npy *submitted, const struct npy *returned)
{
	for (size_t i = 0; i < returned->count; i++) {
		if (submitted->data[i] == NEVER || returned->data[i] == NEVER)
			continue;
		t->count++;
		t->seconds += ((double)returned->data[i] - (double)submitted->data[i]) / 1e9;
	}
}

/* Bytes of both directions divided by the time that they took: if answers have the same size, the
 * size divided by half of a mean round trip. */
static bool round_trips_make(const struct layout_flow *f, const struct rep *reps, size_t count, const json_t *granted,
			     struct summary_block *out)
{
	const int submitted = layout_column(f, "t_subm"), returned = layout_column(f, "t_back");
	const double size = (double)param_integer(f->params, "size_bytes");
	const double answer = (double)param_integer(f->params, "answer_bytes");
	struct trips t = {0};
	double bytes;

	/* Earlier versions had no link rate, and did not compute rates. */
	if (submitted < 0 || returned < 0 || !param_value(f->params, "link_rate"))
		return false;
	for (size_t i = 0; i < count; i++)
		add_trips(&t, &reps[i].columns[submitted], &reps[i].columns[returned]);
	bytes = per_second(t.count * (size + (answer > 0 ? answer : size)), t.seconds);
	set_rates(out->numbers, per_second(2 * t.count, t.seconds), bytes, 0, link_of(f, granted), 1);
	return true;
}

/* --- streams --- */

static bool bandwidth_make(const struct layout_flow *f, const struct rep *reps, size_t count, const json_t *granted,
			   struct summary_block *out)
{
	const struct moved to = sum_way(f, &there, reps, count), fro = sum_way(f, &back, reps, count);
	const double size = (double)param_integer(f->params, "size_bytes");
	const double messages = per_second(to.messages, to.seconds) + per_second(fro.messages, fro.seconds);
	const double delivered =
	    per_second(to.delivered, to.delivering_seconds) + per_second(fro.delivered, fro.delivering_seconds);

	if (!f->counts_loss)
		return round_trips_make(f, reps, count, granted, out);
	set_rates(out->numbers, messages, messages * size, delivered * size, link_of(f, granted),
		  layout_column(f, back.submitted) >= 0 ? 2 : 1);
	return true;
}

static const struct block_statistic bandwidth_statistics[] = {
    {.key = "messages_per_s",
     .number = RATE_MESSAGES_PER_S,
     .label = "kmsg/s",
     .measure = MEASURE_RATE,
     .in_csv = true,
     .shown = SHOWN_TABLE | SHOWN_REPORT,
     .worse = -1,
     .help = "messages per second, from the first submission to the last completion, both directions together"},
    {.key = "bytes_per_s",
     .number = RATE_BYTES_PER_S,
     .label = "MB/s",
     .measure = MEASURE_BYTE_RATE,
     .in_csv = true,
     .shown = SHOWN_TABLE | SHOWN_REPORT,
     .worse = -1,
     .help = "bytes of payload per second (MB: 10^6), over the same time"},
    {.key = "delivered_bytes_per_s",
     .number = RATE_DELIVERED_BYTES_PER_S,
     .label = "MB/s delivered",
     .measure = MEASURE_BYTE_RATE,
     .in_csv = true,
     .shown = SHOWN_TABLE | SHOWN_REPORT,
     .drop_order = 5,
     .worse = -1,
     .help = "received bytes per second, from the first reception to the last"},
    {.key = "link_share",
     .number = RATE_LINK_SHARE,
     .label = "% of link",
     .measure = MEASURE_SHARE,
     .in_csv = true,
     .shown = SHOWN_TABLE | SHOWN_REPORT,
     .drop_order = 6,
     .help = "share of the link's rate that the payload takes"},
    {.key = NULL},
};

static const struct block_statistic bandwidth_facts[] = {
    {.key = "link_bits_per_s", .number = RATE_LINK_BITS_PER_S},
    {.key = NULL},
};

const struct block bandwidth_block = {
    .name = "rate",
    .in_reps = true,
    .make = bandwidth_make,
    .statistics = bandwidth_statistics,
    .facts = bandwidth_facts,
};
