#include "analysis/fairness.h"

#include <math.h>
#include <stdlib.h>

#include "common/npy.h"
#include "common/or_abort.h"
#include "rundir/flows.h"

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
	    .bytes = (double)json_integer_value(json_object_get(s->flow->params, "size_bytes")),
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

/* --- JSON --- */

/* Rounded to a representable integer, as files may contain anything. */
static json_t *whole(bool is_known, double value)
{
	return is_known ? json_integer((json_int_t)fmax(fmin(value, 9e18), -9e18)) : json_null();
}

static json_t *known(bool is_known, double value)
{
	return is_known && isfinite(value) ? json_real(value) : json_null();
}

static double sum_parts(const struct contest *c, size_t part)
{
	double sum = 0;

	for (size_t i = 0; i < c->count; i++)
		sum += c->flows[i].part[part];
	return sum;
}

static json_t *shares_json(const struct contest *c)
{
	json_t *shares = json_object();

	for (size_t i = 0; i < c->count; i++) {
		json_t *parts = json_array();

		for (size_t k = 0; k < FAIRNESS_WINDOWS; k++) {
			const double all = sum_parts(c, k);

			json_array_append_new(parts, known(all > 0, c->flows[i].part[k] / all));
		}
		json_object_set_new(shares, c->flows[i].flow->flow->name, parts);
	}
	return shares;
}

static json_t *fairness_point_json(const struct contest *c, bool alone)
{
	const bool shared = c->seconds > 0;
	json_t *j =
	    json_pack("{s:o, s:o, s:o, s:o, s:o}", "from_ns", alone && shared ? json_integer(c->from) : json_null(),
		      "to_ns", alone && shared ? json_integer(c->to) : json_null(), "jain",
		      known(shared, jain_of_moved(c->flows, c->count, -1)), "jain_min", known(shared, c->jain_min),
		      "spread_ns", whole(c->spread_ns >= 0, c->spread_ns));

	if (alone && shared)
		json_object_set_new(j, "shares", shares_json(c));
	return j;
}

static json_t *fairness_flow_json(const struct contest *c, const struct moved *m)
{
	const bool shared = c->seconds > 0;
	double bytes = 0, quantum_bytes = 0;

	for (size_t i = 0; i < c->count; i++) {
		bytes += c->flows[i].bytes;
		quantum_bytes += c->flows[i].quantum_bytes;
	}
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "share", known(shared && bytes > 0, m->bytes / bytes),
			 "quantum_share", known(shared && quantum_bytes > 0, m->quantum_bytes / quantum_bytes),
			 "bytes_per_s", known(shared, m->bytes / c->seconds), "done_messages",
			 whole(shared, m->messages), "jain", known(shared, jain_of_moved(c->flows, c->count, -1)),
			 "jain_min", known(shared, c->jain_min));
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
		  json_t *to)
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
		json_object_set_new(to, fairness_block.name, fairness_point_json(&c, alone));
	for (size_t i = 0; i < c.count; i++) {
		char key[FLOWS_KEY_MAX];

		json_object_set_new(to, flows_key(c.flows[i].flow->flow->name, fairness_block.name, key, sizeof(key)),
				    fairness_flow_json(&c, &c.flows[i]));
	}
	if (!alone)
		warn_of_spread(&c, json_object_get(to, "warnings"));
	free(c.flows);
}

static const struct block_statistic fairness_statistics[] = {
    {.key = "share",
     .label = "% share",
     .measure = MEASURE_SHARE,
     .in_csv = true,
     .shown = SHOWN_TABLE | SHOWN_REPORT,
     .help = "share of the bytes that all flows moved while all were under way"},
    {.key = "quantum_share",
     .label = "% share, completed",
     .measure = MEASURE_SHARE,
     .in_csv = true,
     .shown = SHOWN_REPORT,
     .help = "the same share, counting completed messages only"},
    {.key = "bytes_per_s",
     .label = "MB/s shared",
     .measure = MEASURE_BYTE_RATE,
     .shown = SHOWN_REPORT,
     .worse = -1,
     .help = "bytes of payload per second (MB: 10^6) while all flows were under way"},
    {.key = "done_messages",
     .label = "messages shared",
     .measure = MEASURE_COUNT,
     .help = "messages completed while all flows were under way"},
    {.key = "jain",
     .label = "Jain's index",
     .measure = MEASURE_RATIO,
     .in_csv = true,
     .shown = SHOWN_TABLE | SHOWN_REPORT,
     .worse = -1,
     .help = "Jain's index of the point: 1 if all flows have the same share, 1/n if one of n has everything"},
    {.key = "jain_min",
     .label = "worst Jain's index",
     .measure = MEASURE_RATIO,
     .in_csv = true,
     .shown = SHOWN_REPORT,
     .worse = -1,
     .help = "the lowest Jain's index among 50 equal parts of the time"},
    {.key = NULL},
};

const struct block fairness_block = {
    .name = "fairness",
    .in_reps = true,
    .of_point = true,
    .statistics = fairness_statistics,
};
