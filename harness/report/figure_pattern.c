#include "report/run_figures.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "common/fs.h"
#include "common/npy.h"
#include "common/or_abort.h"
#include "common/units.h"
#include "files/rundir/flows.h"
#include "files/rundir/rep.h"
#include "judge/analysis/pattern.h"
#include "judge/analysis/period.h"
#include "judge/analysis/period_score.h"

/* maximum number of dots for a whole repetition; if there are more entries, the smallest and
 * largest of several adjacent ones */
#define DRAWN	      4000
#define STRETCH_LEAST 128
#define STRETCH_MOST  640
#define STRETCH_TURNS 4
#define IN_SIGHT      0.999 /* share of the values that is visible */
#define ROOM_ABOVE    2

/* What the figures of one flow are made from. */
struct source {
	const struct report *report;
	const struct report_point *point;
	const struct layout_flow *flow;
	const struct layout_series *series;
	const struct summary_block *block;
	struct period_sequence *sequences; /* of the repetitions */
	unsigned *shifts;
	size_t count;
	unsigned period; /* 0: there is none */
};

/* --- stretches of a long sequence --- */

struct stretch {
	size_t first;
	double mean;
};

static int by_stretch_mean(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	return x->mean != y->mean ? (x->mean < y->mean ? -1 : 1) : (x->first > y->first) - (x->first < y->first);
}

static double stretch_mean(const int64_t *values, size_t count)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (values[i] != NEVER) {
			sum += (double)values[i];
			n++;
		}
	return n ? sum / (double)n : 0;
}

/* The section of that rank among all, from 0 to 1. */
static size_t stretch_at(const struct period_sequence *s, size_t length, size_t step, double rank)
{
	const size_t count = s->count > length ? (s->count - length) / step + 1 : 1;
	struct stretch *all = or_abort(calloc(count, sizeof(*all)));
	size_t first;

	for (size_t i = 0; i < count; i++)
		all[i] = (struct stretch){i * step,
					  stretch_mean(s->values + i * step, s->count < length ? s->count : length)};
	qsort(all, count, sizeof(*all), by_stretch_mean);
	first = all[(size_t)(rank * (double)(count - 1))].first;
	free(all);
	return first;
}

/* The start of the section of `length` entries whose mean is the median of those of all sections,
 * or the largest. Sections start at multiples of `step`. */
static size_t stretch_typical(const struct period_sequence *s, size_t length, size_t step)
{
	return stretch_at(s, length, step, 0.5);
}

static size_t stretch_worst(const struct period_sequence *s, size_t length, size_t step)
{
	return stretch_at(s, length, step, 1);
}

/* --- reading run directories --- */

static void source_read_block(struct source *s)
{
	const struct summary_pattern *pattern = s->block->pattern;

	for (size_t i = 0; pattern && i < s->count && i < pattern->shift_count; i++)
		s->shifts[i] = (unsigned)pattern->shifts[i].shift % s->period;
}

static int source_open(struct source *s, struct err *e)
{
	const char *path = s->report->runs[s->point->run].run->path;
	struct rep *reps;
	int rc = rep_open_all(path, s->flow, &reps, &s->count, e);

	s->sequences = or_abort(calloc(s->count + 1, sizeof(*s->sequences)));
	s->shifts = or_abort(calloc(s->count + 1, sizeof(*s->shifts)));
	for (size_t i = 0; i < s->count; i++)
		pattern_sequence(s->series, &reps[i], &s->sequences[i]);
	if (!rc)
		source_read_block(s);
	for (size_t i = 0; i < s->count; i++)
		if (rep_close(&reps[i], e))
			rc = -EIO;
	free(reps);
	return rc;
}

static void source_close(struct source *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->sequences[i].values);
	free(s->sequences);
	free(s->shifts);
}

/* --- both figures --- */

static char *figure_name(const struct source *s, const char *kind)
{
	return fs_path("%s%s%s-%s", s->point->name, *s->flow->name ? "-" : "", s->flow->name, kind);
}

static char *description_of(const struct source *s, const char *what)
{
	char base[32], high[32];
	const struct number slowest = s->block->numbers[PATTERN_HIGH_NS];

	unit_human_ns(number_count(s->block->numbers[PATTERN_BASE_NS]), base, sizeof(base));
	unit_human_ns(number_count(slowest), high, sizeof(high));
	return fs_path("%s of %s%s%s: period %u, base %s%s%s", what, s->flow->name, *s->flow->name ? ", " : "",
		       s->point->label, s->period, base, slowest.kind == NUMBER_INTEGER ? ", slowest phases " : "",
		       slowest.kind == NUMBER_INTEGER ? high : "");
}

static FILE *begin_figure(struct figures *f, const struct source *s, const char *kind, const char *what, struct err *e)
{
	FILE *table = figure_begin(f, kind, s->point, figure_name(s, kind), description_of(s, what), e);

	f->items[f->count - 1].flow = s->flow->name;
	return table;
}

/* --- against the index of the message --- */

static void write_entry(FILE *table, unsigned panel, size_t i, int64_t value)
{
	if (value != NEVER)
		fprintf(table, "%u\t%zu\t%" PRId64 "\n", panel, i + 1, value);
}

/* The smallest and the largest of several adjacent entries. */
static void write_extremes(FILE *table, const struct period_sequence *s, size_t from, size_t to)
{
	size_t least = from, most = from;

	for (size_t i = from; i < to; i++) {
		least =
		    s->values[i] != NEVER && (s->values[least] == NEVER || s->values[i] < s->values[least]) ? i : least;
		most = s->values[i] > s->values[most] ? i : most;
	}
	write_entry(table, 1, least, s->values[least]);
	if (most != least)
		write_entry(table, 1, most, s->values[most]);
}

static void write_whole(FILE *table, const struct period_sequence *s)
{
	const size_t each = s->count <= DRAWN ? 1 : (2 * s->count + DRAWN - 1) / DRAWN;

	for (size_t i = 0; i < s->count; i += each)
		write_extremes(table, s, i, i + each < s->count ? i + each : s->count);
}

/* The smallest value, and the quantile IN_SIGHT. */
static void range_of(const struct period_sequence *s, double *least, double *most)
{
	uint32_t *order = or_abort(calloc(2 * s->count + 1, sizeof(*order)));
	size_t first = 0;

	order_of(s->values, s->count, order, order + s->count);
	while (first < s->count && s->values[order[first]] == NEVER)
		first++;
	*least = *most = 0;
	if (first < s->count) {
		*least = (double)s->values[order[first]];
		*most = (double)s->values[order[first + (size_t)((double)(s->count - 1 - first) * IN_SIGHT)]];
	}
	free(order);
}

static int add_sequence(struct figures *f, const struct source *s, struct err *e)
{
	const struct period_sequence *first = &s->sequences[0];
	const size_t turns = STRETCH_TURNS * s->period;
	const size_t length = turns < STRETCH_LEAST ? STRETCH_LEAST : turns > STRETCH_MOST ? STRETCH_MOST : turns;
	const size_t typical = stretch_typical(first, length, s->period),
		     worst = stretch_worst(first, length, s->period);
	FILE *table = begin_figure(f, s, "sequence", "Latencies in the order of messages", e);
	double least, most;

	if (table) {
		fputs("panel\tmessage\tns\n", table);
		write_whole(table, first);
		for (size_t i = 0; i < length && typical + i < first->count; i++)
			write_entry(table, 2, typical + i, first->values[typical + i]);
		for (size_t i = 0; i < length && worst + i < first->count; i++)
			write_entry(table, 3, worst + i, first->values[worst + i]);
		range_of(first, &least, &most);
		figure_set_range(f, "ns", least, most, ROOM_ABOVE);
		figure_set_number(f, "count", (double)first->count);
		figure_set_number(f, "typical", (double)typical);
		figure_set_number(f, "worst", (double)worst);
		figure_set_number(f, "length", (double)length);
		figure_set_number(f, "period", s->period);
		figure_set(f, "series", s->series->label);
		figure_set_title(f, s->report, "%s%s%s: in the order of messages", s->flow->name,
				 *s->flow->name ? ": " : "", s->point->label);
		fputs("width = 1000\nheight = 620\n", f->script);
	}
	return figure_end(f, table, e);
}

/* --- folded --- */

static void write_phases(FILE *table, const struct phases *p, double *least, double *most)
{
	*least = INFINITY;
	*most = 0;
	fputs("phase\tp10_ns\tp50_ns\tp90_ns\tout\n", table);
	for (unsigned i = 0; i < p->period; i++) {
		const struct phase *phase = &p->phase[i];

		if (!phase->n)
			continue;
		fprintf(table, "%u\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%d\n", i + 1, phase->p10, phase->p50,
			phase->p90, phase->out);
		*least = fmin(*least, (double)phase->p10);
		*most = fmax(*most, (double)phase->p90);
	}
}

static int add_fold(struct figures *f, const struct source *s, struct err *e)
{
	FILE *table = begin_figure(f, s, "fold", "Latencies folded", e);
	struct phases p;
	double least, most;

	if (table) {
		phases_fold(s->sequences, s->shifts, s->count, s->period, &p);
		write_phases(table, &p, &least, &most);
		figure_set_range(f, "ns", least, most, ROOM_ABOVE);
		figure_set_number(f, "period", s->period);
		figure_set_number(f, "base", (double)p.base);
		figure_set(f, "series", s->series->label);
		figure_set_title(f, s->report, "%s%s%s: folded by %u", s->flow->name, *s->flow->name ? ": " : "",
				 s->point->label, s->period);
		fputs("width = 1000\nheight = 380\n", f->script);
		phases_free(&p);
	}
	return figure_end(f, table, e);
}

static int add_flow(struct figures *f, const struct report *r, const struct report_point *p,
		    const struct layout_flow *flow, struct err *e)
{
	struct source s = {.report = r, .point = p, .flow = flow, .series = pattern_series(flow)};
	int rc;

	s.block = model_block(p, flow, &pattern_block);
	s.period = s.block ? (unsigned)number_count(s.block->numbers[PATTERN_PERIOD]) : 0;

	/* Columns may be long, so only those that are drawn are read. */
	if (!s.series || !s.period)
		return 0;
	rc = source_open(&s, e);
	if (!rc && s.count)
		rc = add_sequence(f, &s, e) ?: add_fold(f, &s, e);
	source_close(&s);
	return rc;
}

int figure_pattern_add(struct figures *f, const struct report *r, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < r->count; i++)
		for (size_t k = 0; !rc && k < r->points[i].layout.flow_count; k++)
			rc = add_flow(f, r, &r->points[i], &r->points[i].layout.flows[k], e);
	return rc;
}
