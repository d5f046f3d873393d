#include "judge/analysis/flow_summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "files/rundir/flows.h"
#include "judge/analysis/blocks.h"
#include "judge/analysis/series.h"

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
	fill_spans(s, &(struct layout_series){.column = (unsigned)received, .minus = submitted, .among = -1});
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
