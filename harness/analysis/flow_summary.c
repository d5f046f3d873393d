#include "analysis/flow_summary.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/blocks.h"
#include "analysis/counted_loss.h"
#include "analysis/interference.h"
#include "analysis/series.h"
#include "common/or_abort.h"
#include "rundir/flows.h"

void flow_summary_init(struct flow_summary *s, const struct layout_flow *f, size_t most)
{
	*s = (struct flow_summary){
	    .flow = f,
	    .reps = or_abort(calloc(most + 1, sizeof(*s->reps))),
	    .spans = or_abort(calloc(most + 1, sizeof(*s->spans))),
	    .counters = json_array(),
	};
}

int flow_summary_close(struct flow_summary *s, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < s->count; i++)
		if (rep_close(&s->reps[i], e))
			rc = -EIO;
	free(s->reps);
	free(s->spans);
	json_decref(s->counters);
	json_decref(s->interference);
	return rc;
}

void flow_summary_add(struct flow_summary *s, const struct rep *r)
{
	s->reps[s->count++] = *r;
	if (r->counters)
		json_array_append(s->counters, r->counters);
}

static void set_new(const struct flow_summary *s, json_t *to, const char *key, json_t *value)
{
	char full[FLOWS_KEY_MAX];

	json_object_set_new(to, flows_key(s->flow->name, key, full, sizeof(full)), value);
}

static void fill_spans(struct flow_summary *s, const struct layout_series *series)
{
	for (size_t i = 0; i < s->count; i++)
		s->spans[i] = series_span(&s->reps[i], series);
}

int flow_summary_metrics(struct flow_summary *s, size_t first, size_t count, json_t *metrics, struct err *e)
{
	for (unsigned i = 0; count && i < s->flow->series_count; i++) {
		const struct layout_series *series = &s->flow->series[i];
		uint64_t absent = 0;
		struct stats st;
		int rc;

		fill_spans(s, series);
		for (size_t r = first; r < first + count; r++)
			absent += series_absent(&s->reps[r], series);
		rc = series_stats(series, s->spans + first, count, absent, s->flow->limit_ns, &st, e);
		if (rc)
			return rc;
		if (s->flow->counts_loss)
			st.lost = (uint64_t)counted_loss(s->flow, s->reps + first, count).lost;
		set_new(s, metrics, series->name, statistics_json(&st));
	}
	return 0;
}

void flow_summary_blocks(const struct flow_summary *s, size_t first, size_t count, bool alone, const json_t *granted,
			 json_t *to)
{
	for (size_t i = 0; count && blocks[i]; i++) {
		const bool is_said = blocks[i]->make && (!alone || blocks[i]->in_reps);
		json_t *block = is_said ? blocks[i]->make(s->flow, s->reps + first, count, granted) : NULL;

		if (block)
			set_new(s, to, blocks[i]->name, block);
	}
}

/* --- what happened to the messages --- */

static json_int_t sum_counter(const struct flow_summary *s, const char *side, const char *name)
{
	json_int_t sum = 0;

	for (size_t i = 0; i < json_array_size(s->counters); i++) {
		const json_t *counters = json_object_get(json_array_get(s->counters, i), side);
		json_int_t count = json_integer_value(json_object_get(counters, name));

		if (count < 0 || __builtin_add_overflow(sum, count, &sum))
			return sum;
	}
	return sum;
}

/* From the columns of submission and reception if the kernel has both; otherwise from the counters
 * and the first series. */
static int count_messages(struct flow_summary *s, const json_t *metrics, struct err *e)
{
	int received = layout_column(s->flow, "t_recv"), submitted = layout_column(s->flow, "t_subm");
	int rc;

	if (s->flow->counts_loss) {
		const struct counted_loss loss = counted_loss(s->flow, s->reps, s->count);

		s->sent = loss.sent;
		s->lost = loss.lost;
		return 0;
	}
	if (received < 0 || submitted < 0) {
		const json_t *first = flows_get(metrics, s->flow->name, s->flow->series[0].name);

		s->sent = sum_counter(s, "source", "posted");
		s->lost = json_integer_value(json_object_get(first, "lost"));
		return 0;
	}
	fill_spans(s, &(struct layout_series){.column = (unsigned)received, .minus = submitted, .among = -1});
	rc = flight_compute(s->spans, s->count, &s->flight, e);
	s->sent = (json_int_t)s->flight.sent;
	s->lost = (json_int_t)s->flight.lost;
	return rc;
}

int flow_summary_count(struct flow_summary *s, const char *run_path, const json_t *metrics, struct err *e)
{
	int rc = count_messages(s, metrics, e);

	return rc ? rc : interference_compute(run_path, s->flow, metrics, &s->interference, e);
}

json_t *flow_summary_loss(const struct flow_summary *s)
{
	return json_pack("{s:I, s:I, s:I, s:I}", "sent", s->sent, "lost", s->lost, "duplicates",
			 sum_counter(s, "sink", "duplicates") + sum_counter(s, "source", "duplicates"), "reordered",
			 sum_counter(s, "sink", "reordered") +
			     (s->flow->counts_loss ? sum_counter(s, "source", "reordered") : 0));
}
