#include "judge/analysis/flow_summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/npy.h"
#include "common/or_abort.h"
#include "files/rundir/flows.h"
#include "judge/analysis/blocks.h"
#include "judge/analysis/series.h"
#include "judge/analysis/window.h"

/* --- messages in flight --- */

/* Times of reception, with the earliest at the top. */
struct heap {
	int64_t *times;
	size_t count, room;
};

static int heap_push(struct heap *h, int64_t time)
{
	size_t i = h->count;

	if (h->count == h->room) {
		size_t room = h->room ? h->room * 2 : 64;
		int64_t *bigger = large_resize(h->times, room, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		h->times = bigger;
		h->room = room;
	}
	for (h->count++; i && h->times[(i - 1) / 2] > time; i = (i - 1) / 2)
		h->times[i] = h->times[(i - 1) / 2];
	h->times[i] = time;
	return 0;
}

static void heap_pop(struct heap *h)
{
	int64_t last = h->times[--h->count];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < h->count) {
		child += child + 1 < h->count && h->times[child + 1] < h->times[child];
		if (h->times[child] >= last)
			break;
		h->times[i] = h->times[child];
		i = child;
	}
	h->times[i] = last;
}

/*
 * The messages in flight. Those received in the order of submission form a queue, which does not
 * need memory of its own: it is a part of the column, and `head` is its beginning. Messages that
 * are received before one that was submitted earlier are in the heap.
 */
struct under_way {
	const struct span *span;
	size_t head, queued;
	int64_t head_newest, newest; /* latest reception up to the head and up to the end of the queue */
	struct heap overtakers;
};

static bool was_received(const struct span *s, size_t i)
{
	return s->a[i] != NEVER && s->b[i] != NEVER;
}

static int flight_join(struct under_way *u, size_t i)
{
	int64_t time = u->span->a[i];

	if (!was_received(u->span, i))
		return 0;
	if (time < u->newest)
		return heap_push(&u->overtakers, time);
	u->newest = time;
	u->queued++;
	return 0;
}

/* Remove the messages that were received up to `now`. `next` is the first message that has not been
 * added yet. */
static void flight_leave(struct under_way *u, size_t next, int64_t now)
{
	for (; u->head < next; u->head++) {
		int64_t time = u->span->a[u->head];

		/* The same condition as in flight_join(), so it has the same result. */
		if (!was_received(u->span, u->head) || time < u->head_newest)
			continue;
		if (time > now)
			break;
		u->head_newest = time;
		u->queued--;
	}
	while (u->overtakers.count && u->overtakers.times[0] <= now)
		heap_pop(&u->overtakers);
}

static void flight_count_one(struct window *w, uint64_t under_way)
{
	uint64_t offset = window_offset(w, (int64_t)under_way);

	if (offset <= w->reach)
		w->counts[offset >> w->shift]++;
}

static int flight_count_span(const struct span *s, struct window *w, struct flight *f)
{
	struct under_way u = {.span = s, .head_newest = INT64_MIN, .newest = INT64_MIN};
	int64_t last = INT64_MIN;
	int rc = 0;

	for (size_t i = 0; !rc && i < s->count; i++) {
		int64_t now = s->b[i], depth;

		if (now == NEVER)
			continue;
		f->is_known &= now >= last;
		last = now;
		flight_leave(&u, i, now);
		depth = (int64_t)(u.queued + u.overtakers.count);
		f->max = depth > f->max ? depth : f->max;
		flight_count_one(w, (uint64_t)depth);
		f->sent++;
		f->lost += s->a[i] == NEVER;
		rc = flight_join(&u, i);
	}
	free(u.overtakers.times);
	return rc;
}

static int flight_count_all(const struct span *spans, size_t span_count, struct window *w, struct flight *f)
{
	int rc = 0;

	*f = (struct flight){.is_known = true};
	for (size_t k = 0; !rc && k < span_count; k++)
		rc = flight_count_span(&spans[k], w, f);
	f->is_known &= f->sent > 0;
	return rc;
}

/* The median by counting, as for latencies: one pass over the whole range, then one over the bin
 * that contains it. */
static int find_median(const struct span *spans, size_t span_count, struct window *w, struct flight *f)
{
	struct range in = {0, 0};
	uint64_t before = 0;
	int rc;

	for (size_t k = 0; k < span_count; k++)
		if ((int64_t)spans[k].count > in.high)
			in.high = (int64_t)spans[k].count;
	do {
		window_place(w, in);
		rc = flight_count_all(spans, span_count, w, f);
		f->has_p50 = f->is_known && quantile_is_known(Q50, f->sent);
		if (rc || !f->has_p50)
			break;
		in = window_find(w, quantile_rank(Q50, f->sent), &before);
	} while (in.low != in.high);
	f->p50 = in.low;
	return rc;
}

int flight_compute(const struct span *spans, size_t span_count, struct flight *out, struct err *e)
{
	struct window w;
	int rc = window_alloc(&w);

	memset(out, 0, sizeof(*out));
	if (!rc)
		rc = find_median(spans, span_count, &w, out);
	window_free(&w);
	return rc ? err_sys(e, rc, NULL, "count messages under way") : 0;
}

/* --- flow --- */

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
	summary_free_interference(s->interference);
	return rc;
}

void flow_summary_add(struct flow_summary *s, const struct rep *r)
{
	s->reps[s->count++] = *r;
	if (r->counters)
		json_array_append(s->counters, r->counters);
}

static void fill_spans(struct flow_summary *s, const struct layout_series *series)
{
	for (size_t i = 0; i < s->count; i++)
		s->spans[i] = series_span(&s->reps[i], series);
}

static struct summary_metric *add_metric(const struct flow_summary *s, const char *series, struct summary_results *to)
{
	char name[FLOWS_KEY_MAX];

	to->metrics = grow_or_abort(to->metrics, to->metric_count, sizeof(*to->metrics));
	to->metrics[to->metric_count] =
	    (struct summary_metric){.name = fs_path("%s", flows_key(s->flow->name, series, name, sizeof(name)))};
	return &to->metrics[to->metric_count++];
}

int flow_summary_metrics(struct flow_summary *s, size_t first, size_t count, struct summary_results *to, struct err *e)
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
		statistics_of(&st, add_metric(s, series->name, to)->values);
	}
	return 0;
}

void flow_summary_blocks(const struct flow_summary *s, size_t first, size_t count, bool alone, const json_t *granted,
			 struct summary_results *to)
{
	for (size_t i = 0; count && blocks[i]; i++) {
		struct summary_block *b;

		if (!blocks[i]->make || (alone && !blocks[i]->in_reps))
			continue;
		b = summary_add_block(to, s->flow->name, blocks[i]);
		if (!blocks[i]->make(s->flow, s->reps + first, count, granted, b))
			summary_free_block(&to->blocks[--to->block_count]);
	}
}

/* --- its messages --- */

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
static int count_messages(struct flow_summary *s, const struct summary_results *results, struct err *e)
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
		const struct summary_metric *first = summary_find_metric(results, s->flow->name, NULL);

		s->sent = sum_counter(s, "source", "posted");
		s->lost = first ? number_count(first->values[STATISTIC_LOST]) : 0;
		return 0;
	}
	fill_spans(
	    s, &(struct layout_series){.column = (unsigned)received, .minus = submitted, .only_where_recorded = -1});
	rc = flight_compute(s->spans, s->count, &s->flight, e);
	s->sent = (json_int_t)s->flight.sent;
	s->lost = (json_int_t)s->flight.lost;
	return rc;
}

int flow_summary_count(struct flow_summary *s, const char *run_path, const struct summary_results *results,
		       struct err *e)
{
	int rc = count_messages(s, results, e);

	return rc ? rc : interference_compute(run_path, s->flow, results, &s->interference, e);
}

struct summary_flow flow_summary_facts(struct flow_summary *s)
{
	struct summary_flow f = {
	    .name = fs_path("%s", s->flow->name),
	    .loss = {.is_known = true,
		     .sent = s->sent,
		     .lost = s->lost,
		     .duplicates = sum_counter(s, "sink", "duplicates") + sum_counter(s, "source", "duplicates"),
		     .reordered = sum_counter(s, "sink", "reordered") +
				  (s->flow->counts_loss ? sum_counter(s, "source", "reordered") : 0)},
	    .in_flight_p50 = s->flight.has_p50 ? number_integer(s->flight.p50) : number_none(),
	    .in_flight_max = s->flight.is_known ? number_integer(s->flight.max) : number_none(),
	    .interference = s->interference,
	};

	s->interference = NULL;
	return f;
}

#define CONTROL "undisturbed" /* the folder of the control repetition */
#define METRIC	"lat_ns"

static const struct layout_series *latency_series(const struct layout_flow *f)
{
	for (unsigned i = 0; i < f->series_count; i++)
		if (!strcmp(f->series[i].name, METRIC) && f->series[i].minus >= 0)
			return &f->series[i];
	return NULL;
}

static json_int_t interference_median(const struct summary_metric *m)
{
	return m ? number_count(m->values[STATISTIC_P50]) : 0;
}

static struct summary_interference *compare_medians(const char *metric, json_int_t with, const struct stats *without)
{
	struct summary_interference *i = or_abort(calloc(1, sizeof(*i)));
	json_int_t median;

	i->metric = fs_path("%s", metric);
	statistics_of(without, i->undisturbed);
	median = number_count(i->undisturbed[STATISTIC_P50]);
	i->p50_ratio = with > 0 && median > 0 ? number_real((double)with / (double)median) : number_none();
	return i;
}

int interference_compute(const char *run_path, const struct layout_flow *f, const struct summary_results *results,
			 struct summary_interference **out, struct err *e)
{
	const struct layout_series *s = latency_series(f);
	char *dir = layout_part_dir(run_path, f->point, CONTROL, f->name), metric[FLOWS_KEY_MAX];
	struct stats st;
	int rc = 0;

	*out = NULL;
	if (s && results->metric_count && !fs_is_missing(dir)) {
		rc = control_stats(dir, f, s, &st, e);
		if (!rc)
			*out = compare_medians(flows_key(f->name, METRIC, metric, sizeof(metric)),
					       interference_median(summary_find_metric(results, f->name, METRIC)), &st);
	}
	free(dir);
	return rc;
}

json_t *interference_text(const struct summary_interference *interference, const struct summary_results *results)
{
	if (!number_is_known(interference->p50_ratio))
		return json_string("t_send: too few messages to determine the effect of the third thread on t_lat");
	return json_sprintf("t_send: with the third thread the median of t_lat is %" JSON_INTEGER_FORMAT
			    " ns, without it %" JSON_INTEGER_FORMAT " ns (%+.1f %%)",
			    interference_median(summary_metric_named(results, interference->metric)),
			    number_count(interference->undisturbed[STATISTIC_P50]),
			    (number_value(interference->p50_ratio) - 1) * 100);
}
