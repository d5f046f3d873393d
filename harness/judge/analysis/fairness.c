#include "judge/analysis/fairness.h"

#include <math.h>
#include <stdlib.h>

#include "common/fs.h"
#include "common/npy.h"
#include "common/or_abort.h"
#include "judge/analysis/param.h"

#define EDGES	    (FAIRNESS_WINDOWS + 1)
#define SPREAD_MOST 0.01 /* share of the window above which there is a warning */

/* One direction of a flow in one repetition. */
struct way {
	const struct npy *submitted, *completed;
	double bytes, block; /* of a message; number of messages per entry */
	double messages;     /* completed in total */
};

/* What a flow moved within the window. */
struct moved {
	const struct flow_summary *flow;
	double bytes, quantum_bytes, messages;
	double part[FAIRNESS_WINDOWS]; /* bytes */
};

struct contest {
	struct moved *flows;
	size_t count;
	double seconds, jain_min; /* NaN: there was no window */
	int64_t from, to;	  /* of the last repetition, as is rep_spread_ns */
	double rep_spread_ns;
	double spread_ns, spread_share; /* maximum, in ns and as a share of the window; negative: unknown */
};

/* --- progress over time --- */

static bool way_open(const struct flow_summary *s, size_t rep, bool back, struct way *w)
{
	const struct rep *r = &s->reps[rep];
	const int submitted = layout_column(s->flow, back ? "t_subm_back" : "t_subm");
	const int completed = layout_column(s->flow, back ? "t_comp_back" : "t_comp");

	if (submitted < 0 || completed < 0)
		return false;
	*w = (struct way){
	    .submitted = &r->columns[submitted],
	    .completed = &r->columns[completed],
	    .bytes = (double)param_integer(s->flow->params, "size_bytes"),
	    .block = (double)s->flow->traits.block,
	    .messages = (double)rep_counter(r, back ? "sink" : "source", "completed"),
	};
	return true;
}

/* The number of messages completed with entry `i`; the last entry may stand for fewer messages than
 * the others. */
static double way_done(const struct way *w, size_t i)
{
	return fmin((double)(i + 1) * w->block, w->messages);
}

/* The part of a message that has been moved by the time `at`. */
static double progress(double start, double end, double at)
{
	return at >= end ? 1 : at <= start || end <= start ? 0 : (at - start) / (end - start);
}

/* Adds the messages moved by each of the edges (ascending) to `moved`, and those completed to `completed`. */
static void way_sweep(const struct way *w, const double *edges, double *moved, double *completed)
{
	double before = -INFINITY, done = 0;
	size_t edge = 0;

	for (size_t i = 0; i < w->completed->count && edge < EDGES; i++) {
		const int64_t at = w->completed->data[i], from = w->submitted->data[i];

		if (at == NEVER)
			continue;
		const double start = fmax(before, from == NEVER ? (double)at : (double)from), end = (double)at;
		const double all = way_done(w, i);

		for (; edge < EDGES && edges[edge] < end; edge++) {
			moved[edge] += done + (all - done) * progress(start, end, edges[edge]);
			completed[edge] += done;
		}
		before = fmax(before, end);
		done = all;
	}
	for (; edge < EDGES; edge++) {
		moved[edge] += done;
		completed[edge] += done;
	}
}

/* --- the window --- */

/* False: one of its directions has no message. */
static bool way_extent(const struct way *w, int64_t *first, int64_t *last)
{
	size_t begin = 0, end = w->completed->count;

	while (begin < w->submitted->count && w->submitted->data[begin] == NEVER)
		begin++;
	while (end && w->completed->data[end - 1] == NEVER)
		end--;
	if (begin == w->submitted->count || !end)
		return false;
	*first = w->submitted->data[begin];
	*last = w->completed->data[end - 1];
	return true;
}

static bool find_window(struct contest *c, size_t rep)
{
	int64_t earliest = INT64_MAX;
	struct way w;

	c->from = INT64_MIN;
	c->to = INT64_MAX;
	for (size_t i = 0; i < c->count; i++)
		for (int back = 0; back < 2; back++) {
			int64_t first, last;

			if (!way_open(c->flows[i].flow, rep, back, &w))
				continue;
			if (!way_extent(&w, &first, &last))
				return false;
			earliest = first < earliest ? first : earliest;
			c->from = first > c->from ? first : c->from;
			c->to = last < c->to ? last : c->to;
		}
	c->rep_spread_ns = (double)c->from - (double)earliest;
	c->spread_ns = fmax(c->spread_ns, c->rep_spread_ns);
	return c->from < c->to;
}

/* --- shares --- */

static double jain_of(const double *x, size_t count)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < count; i++) {
		sum += x[i];
		squares += x[i] * x[i];
	}
	return squares > 0 ? sum * sum / ((double)count * squares) : NAN;
}

/* Of all that the flows moved, or of one part of the window. */
static double jain_of_moved(const struct moved *flows, size_t count, int part)
{
	double *x = or_abort(calloc(count, sizeof(*x))), jain;

	for (size_t i = 0; i < count; i++)
		x[i] = part < 0 ? flows[i].bytes : flows[i].part[part];
	jain = jain_of(x, count);
	free(x);
	return jain;
}

static void moved_add(struct moved *m, struct moved *in_rep, size_t rep, const double *edges)
{
	struct way w;

	for (int back = 0; back < 2; back++) {
		double moved[EDGES] = {0}, completed[EDGES] = {0};

		if (!way_open(m->flow, rep, back, &w))
			continue;
		way_sweep(&w, edges, moved, completed);
		m->bytes += (moved[EDGES - 1] - moved[0]) * w.bytes;
		m->quantum_bytes += (completed[EDGES - 1] - completed[0]) * w.bytes;
		m->messages += completed[EDGES - 1] - completed[0];
		for (size_t i = 0; i < FAIRNESS_WINDOWS; i++)
			in_rep->part[i] += (moved[i + 1] - moved[i]) * w.bytes;
	}
}

static void contest_add(struct contest *c, size_t rep)
{
	struct moved *in_rep = or_abort(calloc(c->count, sizeof(*in_rep)));
	double edges[EDGES];

	if (find_window(c, rep)) {
		const double length = (double)c->to - (double)c->from;

		for (size_t i = 0; i < EDGES; i++)
			edges[i] = (double)c->from + length * (double)i / FAIRNESS_WINDOWS;
		edges[EDGES - 1] = (double)c->to;
		for (size_t i = 0; i < c->count; i++)
			moved_add(&c->flows[i], &in_rep[i], rep, edges);
		for (int i = 0; i < FAIRNESS_WINDOWS; i++)
			c->jain_min = fmin(c->jain_min, jain_of_moved(in_rep, c->count, i));
		for (size_t i = 0; i < c->count; i++)
			for (size_t k = 0; k < FAIRNESS_WINDOWS; k++)
				c->flows[i].part[k] += in_rep[i].part[k];
		c->seconds += length / 1e9;
		c->spread_share = fmax(c->spread_share, c->rep_spread_ns / length);
	}
	free(in_rep);
}

/* --- the blocks --- */

/* Rounded to a representable integer, as files may contain anything. */
static struct number whole(bool is_known, double value)
{
	return is_known ? number_integer((json_int_t)fmax(fmin(value, 9e18), -9e18)) : number_none();
}

static struct number real_if_known(bool is_known, double value)
{
	return is_known ? number_real(value) : number_none();
}

static double sum_parts(const struct contest *c, size_t part)
{
	double sum = 0;

	for (size_t i = 0; i < c->count; i++)
		sum += c->flows[i].part[part];
	return sum;
}

static void set_shares(const struct contest *c, struct summary_block *out)
{
	out->shares = or_abort(calloc(c->count, sizeof(*out->shares)));
	out->share_count = c->count;
	for (size_t i = 0; i < c->count; i++) {
		struct summary_shares *s = &out->shares[i];

		*s = (struct summary_shares){fs_path("%s", c->flows[i].flow->flow->name),
					     or_abort(calloc(FAIRNESS_WINDOWS, sizeof(double))), FAIRNESS_WINDOWS};
		for (size_t k = 0; k < FAIRNESS_WINDOWS; k++) {
			const double all = sum_parts(c, k);

			s->parts[k] = all > 0 ? c->flows[i].part[k] / all : NAN;
		}
	}
}

static void fairness_of_point(const struct contest *c, bool alone, struct summary_block *out)
{
	const bool shared = c->seconds > 0;
	struct number *n = out->numbers;

	n[FAIRNESS_FROM_NS] = alone && shared ? number_integer(c->from) : number_none();
	n[FAIRNESS_TO_NS] = alone && shared ? number_integer(c->to) : number_none();
	n[FAIRNESS_JAIN] = real_if_known(shared, jain_of_moved(c->flows, c->count, -1));
	n[FAIRNESS_JAIN_MIN] = real_if_known(shared, c->jain_min);
	n[FAIRNESS_SPREAD_NS] = whole(c->spread_ns >= 0, c->spread_ns);
	if (alone && shared)
		set_shares(c, out);
}

static void fairness_of_flow(const struct contest *c, const struct moved *m, struct summary_block *out)
{
	const bool shared = c->seconds > 0;
	double bytes = 0, quantum_bytes = 0;
	struct number *n = out->numbers;

	for (size_t i = 0; i < c->count; i++) {
		bytes += c->flows[i].bytes;
		quantum_bytes += c->flows[i].quantum_bytes;
	}
	n[FAIRNESS_SHARE] = real_if_known(shared && bytes > 0, m->bytes / bytes);
	n[FAIRNESS_QUANTUM_SHARE] = real_if_known(shared && quantum_bytes > 0, m->quantum_bytes / quantum_bytes);
	n[FAIRNESS_BYTES_PER_S] = real_if_known(shared, m->bytes / c->seconds);
	n[FAIRNESS_DONE_MESSAGES] = whole(shared, m->messages);
	n[FAIRNESS_JAIN] = real_if_known(shared, jain_of_moved(c->flows, c->count, -1));
	n[FAIRNESS_JAIN_MIN] = real_if_known(shared, c->jain_min);
}

static void warn_of_spread(const struct contest *c, json_t *warnings)
{
	if (c->spread_share > SPREAD_MOST)
		json_array_append_new(
		    warnings, json_sprintf("the flows began up to %.3g ms apart, which is %.3g %% of the time in which "
					   "all were under way and to which their shares refer",
					   c->spread_ns / 1e6, 100 * c->spread_share));
}

static bool is_stream(const struct flow_summary *s)
{
	return s->flow->counts_loss && layout_column(s->flow, "t_subm") >= 0 && layout_column(s->flow, "t_comp") >= 0;
}

void fairness_add(const struct flow_summary *flows, size_t flow_count, size_t first, size_t count, bool alone,
		  struct summary_results *to, json_t *warnings)
{
	struct contest c = {
	    .flows = or_abort(calloc(flow_count + 1, sizeof(*c.flows))), .jain_min = NAN, .spread_ns = -1};

	for (size_t i = 0; i < flow_count; i++)
		if (is_stream(&flows[i]))
			c.flows[c.count++].flow = &flows[i];
	for (size_t i = first; c.count > 1 && i < first + count; i++)
		contest_add(&c, i);
	if (c.count < 2 || !count)
		c.count = 0;
	else
		fairness_of_point(&c, alone, summary_add_block(to, "", &fairness_block));
	for (size_t i = 0; i < c.count; i++)
		fairness_of_flow(&c, &c.flows[i], summary_add_block(to, c.flows[i].flow->flow->name, &fairness_block));
	if (!alone)
		warn_of_spread(&c, warnings);
	free(c.flows);
}

static const struct block_statistic fairness_statistics[] = {
    {.key = "share",
     .number = FAIRNESS_SHARE,
     .label = "% share",
     .measure = MEASURE_SHARE,
     .in_csv = true,
     .shown = SHOWN_TABLE | SHOWN_REPORT,
     .help = "share of the bytes that all flows moved while all were under way"},
    {.key = "quantum_share",
     .number = FAIRNESS_QUANTUM_SHARE,
     .label = "% share, completed",
     .measure = MEASURE_SHARE,
     .in_csv = true,
     .shown = SHOWN_REPORT,
     .help = "the same share, counting completed messages only"},
    {.key = "bytes_per_s",
     .number = FAIRNESS_BYTES_PER_S,
     .label = "MB/s shared",
     .measure = MEASURE_BYTE_RATE,
     .shown = SHOWN_REPORT,
     .worse = -1,
     .help = "bytes of payload per second (MB: 10^6) while all flows were under way"},
    {.key = "done_messages",
     .number = FAIRNESS_DONE_MESSAGES,
     .label = "messages shared",
     .measure = MEASURE_COUNT,
     .help = "messages completed while all flows were under way"},
    {.key = "jain",
     .number = FAIRNESS_JAIN,
     .label = "Jain's index",
     .measure = MEASURE_RATIO,
     .in_csv = true,
     .shown = SHOWN_TABLE | SHOWN_REPORT,
     .worse = -1,
     .help = "Jain's index of the point: 1 if all flows have the same share, 1/n if one of n has everything"},
    {.key = "jain_min",
     .number = FAIRNESS_JAIN_MIN,
     .label = "worst Jain's index",
     .measure = MEASURE_RATIO,
     .in_csv = true,
     .shown = SHOWN_REPORT,
     .worse = -1,
     .help = "the lowest Jain's index among 50 equal parts of the time"},
    {.key = NULL},
};

static const struct block_statistic fairness_facts[] = {
    {.key = "from_ns", .number = FAIRNESS_FROM_NS},
    {.key = "to_ns", .number = FAIRNESS_TO_NS},
    {.key = "spread_ns", .number = FAIRNESS_SPREAD_NS},
    {.key = NULL},
};

const struct block fairness_block = {
    .name = "fairness",
    .in_reps = true,
    .of_point = true,
    .statistics = fairness_statistics,
    .facts = fairness_facts,
};
