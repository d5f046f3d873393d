#include "analysis/bandwidth.h"

#include "common/npy.h"

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

static json_t *positive(double value)
{
	return value > 0 ? json_real(value) : json_null();
}

/* From the settings, or if they do not set it, from the device of the source. 0: unknown. */
static json_int_t link_of(const struct layout_flow *f, const json_t *granted)
{
	const json_int_t asked = json_integer_value(json_object_get(f->params, "link_rate"));

	return asked ? asked
		     : json_integer_value(json_object_get(json_object_get(granted, "source"), "link_bits_per_s"));
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
static json_t *round_trips_json(const struct layout_flow *f, const struct rep *reps, size_t count,
				const json_t *granted)
{
	const int submitted = layout_column(f, "t_subm"), returned = layout_column(f, "t_back");
	const double size = (double)json_integer_value(json_object_get(f->params, "size_bytes"));
	const double answer = (double)json_integer_value(json_object_get(f->params, "answer_bytes"));
	const double link = (double)link_of(f, granted);
	struct trips t = {0};
	double bytes;

	/* Earlier versions had no link rate, and did not compute rates. */
	if (submitted < 0 || returned < 0 || !json_object_get(f->params, "link_rate"))
		return NULL;
	for (size_t i = 0; i < count; i++)
		add_trips(&t, &reps[i].columns[submitted], &reps[i].columns[returned]);
	bytes = per_second(t.count * (size + (answer > 0 ? answer : size)), t.seconds);
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "messages_per_s", positive(per_second(2 * t.count, t.seconds)),
			 "bytes_per_s", positive(bytes), "delivered_bytes_per_s", json_null(), "link_bits_per_s",
			 link > 0 ? json_integer(link_of(f, granted)) : json_null(), "link_share",
			 link > 0 ? positive(bytes * 8 / link) : json_null());
}

/* --- streams --- */

static json_t *bandwidth_json(const struct layout_flow *f, const struct rep *reps, size_t count, const json_t *granted)
{
	const struct moved to = sum_way(f, &there, reps, count), fro = sum_way(f, &back, reps, count);
	const double size = (double)json_integer_value(json_object_get(f->params, "size_bytes"));
	const double messages = per_second(to.messages, to.seconds) + per_second(fro.messages, fro.seconds);
	const double delivered =
	    per_second(to.delivered, to.delivering_seconds) + per_second(fro.delivered, fro.delivering_seconds);
	const double link = (double)link_of(f, granted) * (layout_column(f, back.submitted) >= 0 ? 2 : 1);

	if (!f->counts_loss)
		return round_trips_json(f, reps, count, granted);
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "messages_per_s", positive(messages), "bytes_per_s",
			 positive(messages * size), "delivered_bytes_per_s", positive(delivered * size),
			 "link_bits_per_s", link > 0 ? json_integer(link_of(f, granted)) : json_null(), "link_share",
			 link > 0 ? positive(messages * size * 8 / link) : json_null());
}

static const struct block_statistic bandwidth_statistics[] = {
    {.key = "messages_per_s",
     .label = "kmsg/s",
     .measure = MEASURE_RATE,
     .in_csv = true,
     .shown = SHOWN_TABLE | SHOWN_REPORT,
     .worse = -1,
     .help = "messages per second, from the first submission to the last completion, both directions together"},
    {.key = "bytes_per_s",
     .label = "MB/s",
     .measure = MEASURE_BYTE_RATE,
     .in_csv = true,
     .shown = SHOWN_TABLE | SHOWN_REPORT,
     .worse = -1,
     .help = "bytes of payload per second (MB: 10^6), over the same time"},
    {.key = "delivered_bytes_per_s",
     .label = "MB/s delivered",
     .measure = MEASURE_BYTE_RATE,
     .in_csv = true,
     .shown = SHOWN_TABLE | SHOWN_REPORT,
     .spare = 5,
     .worse = -1,
     .help = "received bytes per second, from the first reception to the last"},
    {.key = "link_share",
     .label = "% of link",
     .measure = MEASURE_SHARE,
     .in_csv = true,
     .shown = SHOWN_TABLE | SHOWN_REPORT,
     .spare = 6,
     .help = "share of the link's rate that the payload takes"},
    {.key = NULL},
};

const struct block bandwidth_block = {
    .name = "rate",
    .in_reps = true,
    .make = bandwidth_json,
    .statistics = bandwidth_statistics,
};
