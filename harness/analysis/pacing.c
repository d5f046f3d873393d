#include "analysis/pacing.h"

#include <string.h>

struct tally {
	json_int_t steps, missed, unsent;
	double intervals, seconds; /* between samples that were sent */
};

static json_int_t count_of(const struct rep *r, const char *side, const char *name)
{
	json_int_t count = json_integer_value(json_object_get(json_object_get(r->counters, side), name));

	return count > 0 ? count : 0;
}

static void add_rate(struct tally *t, const struct npy *submitted)
{
	int64_t first = NEVER, last = NEVER;
	size_t sent = 0;

	for (size_t i = 0; i < submitted->count; i++) {
		if (submitted->data[i] == NEVER)
			continue;
		first = sent++ ? first : submitted->data[i];
		last = submitted->data[i];
	}
	if (sent < 2)
		return;
	t->intervals += (double)(sent - 1);
	t->seconds += ((double)last - (double)first) / 1e9;
}

json_t *pacing_json(const struct layout *l, const struct rep *reps, size_t count)
{
	int due = layout_column(l, "t_due"), submitted = layout_column(l, "t_subm");
	struct tally t = {0};

	if (due < 0 || submitted < 0)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		add_rate(&t, &reps[i].columns[submitted]);
		if (!reps[i].counters)
			continue;
		t.steps += (json_int_t)reps[i].columns[due].count;
		t.missed += count_of(&reps[i], "source", "missed");
		t.unsent += count_of(&reps[i], "source", "unsent");
	}
	return json_pack("{s:O*, s:o, s:I, s:I, s:o, s:I, s:o}", "asked_hz", json_object_get(l->params, "rate_hz"),
			 "achieved_hz", t.seconds > 0 ? json_real(t.intervals / t.seconds) : json_null(), "steps",
			 t.steps, "missed", t.missed, "missed_share",
			 t.steps ? json_real((double)t.missed / (double)t.steps) : json_null(), "unsent", t.unsent,
			 "unsent_share", t.steps ? json_real((double)t.unsent / (double)t.steps) : json_null());
}

static json_t *per_second(json_int_t bytes, json_int_t ns)
{
	return ns > 0 ? json_real((double)bytes / ((double)ns / 1e9)) : json_null();
}

json_t *storing_json(const struct layout *l, const struct rep *reps, size_t count)
{
	const char *sink = json_string_value(json_object_get(l->params, "sink"));
	json_int_t bytes = 0, ns = 0, write_ns = 0, waits = 0;

	if (!sink || strcmp(sink, "file"))
		return NULL;
	for (size_t i = 0; i < count; i++) {
		bytes += count_of(&reps[i], "sink", "stored_bytes");
		ns += count_of(&reps[i], "sink", "store_ns");
		write_ns += count_of(&reps[i], "sink", "store_write_ns");
		waits += count_of(&reps[i], "sink", "store_waits");
	}
	return json_pack("{s:I, s:o, s:o, s:I}", "stored_bytes", bytes, "bytes_per_s", per_second(bytes, ns),
			 "write_bytes_per_s", per_second(bytes, write_ns), "waits", waits);
}
