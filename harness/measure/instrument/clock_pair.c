#include "measure/instrument/clock_pair.h"

#include <math.h>
#include <stdlib.h>

bool clock_pair_is_time(int64_t ns)
{
	return ns > -CLOCK_PAIR_FURTHEST_NS && ns < CLOCK_PAIR_FURTHEST_NS;
}

/* The round-trip time minus the far side's processing time; negative: the stamps contradict each other. */
static int64_t path_ns(const struct clock_exchange *x)
{
	if (!clock_pair_is_time(x->sent) || !clock_pair_is_time(x->received) || !clock_pair_is_time(x->answered) ||
	    !clock_pair_is_time(x->returned))
		return -1;
	return (x->returned - x->sent) - (x->answered - x->received);
}

bool clock_pair_compare(const struct clock_exchange *exchanges, size_t count, struct clock_comparison *out)
{
	const struct clock_exchange *best = NULL;

	for (size_t i = 0; i < count; i++) {
		const int64_t way = path_ns(&exchanges[i]);

		if (way >= 0 && (!best || way < path_ns(best)))
			best = &exchanges[i];
	}
	if (!best)
		return false;

	const int64_t most = best->received - best->sent, least = best->answered - best->returned;
	const int64_t took = best->returned - best->sent;

	*out = (struct clock_comparison){
	    .at_ns = best->sent + took / 2,
	    .offset_ns = least + (most - least) / 2,
	    /* Each stamp is rounded, and the clocks drift apart meanwhile. */
	    .error_ns = (most - least + 1) / 2 + 2 + took * CLOCK_PAIR_MOST_PPM / 1000000,
	};
	return true;
}

/* --- the line through all points --- */

static void fit_line(const struct clock_comparison *c, size_t count, struct clock_line *out)
{
	double mean_t = 0, mean_o = 0, tt = 0, to = 0;

	/* Differences from the first, because the values themselves may exceed a double's 53 bits. */
	for (size_t i = 0; i < count; i++) {
		mean_t += (double)(c[i].at_ns - c[0].at_ns) / (double)count;
		mean_o += (double)(c[i].offset_ns - c[0].offset_ns) / (double)count;
	}
	for (size_t i = 0; i < count; i++) {
		const double t = (double)(c[i].at_ns - c[0].at_ns) - mean_t;

		tt += t * t;
		to += t * ((double)(c[i].offset_ns - c[0].offset_ns) - mean_o);
	}
	const double slope = tt > 0 ? to / tt : 0;

	out->at_ns = c[0].at_ns;
	out->offset_ns = c[0].offset_ns + llround(mean_o - slope * mean_t);
	out->drift_ppb = slope * 1e9;
}

static int64_t distance_from(const struct clock_line *line, const struct clock_comparison *c)
{
	const double moved = line->drift_ppb * 1e-9 * (double)(c->at_ns - line->at_ns);

	return llabs(c->offset_ns - line->offset_ns - llround(moved));
}

/* --- bounds --- */

/* A change of the rate has the largest effect in the middle of an interval, where it bends the line
 * by a quarter of the change over the interval. */
static int64_t wander_ns(int64_t interval_ns)
{
	return (int64_t)ceil((double)interval_ns * CLOCK_PAIR_WANDER_PPB * 1e-9 / 4);
}

static int64_t bound_between(const struct clock_comparison *a, const struct clock_comparison *b)
{
	return (a->error_ns > b->error_ns ? a->error_ns : b->error_ns) + wander_ns(b->at_ns - a->at_ns);
}

static bool is_step(const struct clock_comparison *a, const struct clock_comparison *b)
{
	const int64_t most = (b->at_ns - a->at_ns) / 1000000 * CLOCK_PAIR_MOST_PPM;

	return llabs(b->offset_ns - a->offset_ns) > a->error_ns + b->error_ns + most;
}

/* A line through points with errors of at most e is at most 3 e away from any of them; and rates
 * change a little. */
static bool is_bent(const struct clock_line *line, const struct clock_comparison *c, size_t count)
{
	int64_t most = 0;

	for (size_t i = 0; i < count; i++)
		most = c[i].error_ns > most ? c[i].error_ns : most;
	return line->residual_ns > 3 * most + 4 * wander_ns(c[count - 1].at_ns - c[0].at_ns);
}

struct clock_line clock_pair_fit(const struct clock_comparison *c, size_t count)
{
	struct clock_line line = {.error_ns = c[0].error_ns};

	fit_line(c, count, &line);
	for (size_t i = 0; i < count; i++) {
		const int64_t residual = distance_from(&line, &c[i]);

		line.residual_ns = residual > line.residual_ns ? residual : line.residual_ns;
	}
	for (size_t i = 0; i + 1 < count; i++) {
		const int64_t bound = bound_between(&c[i], &c[i + 1]);

		line.error_ns = bound > line.error_ns ? bound : line.error_ns;
		line.has_stepped |= is_step(&c[i], &c[i + 1]);
	}
	line.has_stepped |= is_bent(&line, c, count);
	return line;
}

int64_t clock_pair_offset(const struct clock_comparison *c, size_t count, int64_t far_ns)
{
	size_t i = 0;

	if (count == 1)
		return c[0].offset_ns;
	while (i + 2 < count && far_ns > c[i + 1].at_ns + c[i + 1].offset_ns)
		i++;

	/* By the far clock, the comparisons were at at_ns + offset_ns. */
	const int64_t from = c[i].at_ns + c[i].offset_ns, to = c[i + 1].at_ns + c[i + 1].offset_ns;
	const double share = to > from ? (double)(far_ns - from) / (double)(to - from) : 0;
	const double moved = share * (double)(c[i + 1].offset_ns - c[i].offset_ns), most = CLOCK_PAIR_FURTHEST_NS;

	return c[i].offset_ns + llround(fmin(fmax(moved, -most), most));
}
