#include "report/run_figures.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "common/units.h"
#include "judge/analysis/causes.h"
#include "report/escape.h"

#define WIDTH	     1000
#define TAIL_HEIGHT  420
#define FLOWS_MAX    12 /* more do not help; the table of causes has all */
#define DOTS_FIRST   500
#define DOTS_STEP    1.01 /* beyond those, the factor from one rank to the next */
#define WORST	     5
#define ROW_HEIGHT   72	  /* of one message */
#define AROUND	     0.04 /* share of its time shown before and after it */
#define FINEST	     2000 /* the shortest visible time is this fraction of it */
#define COLOURS	     8
#define KEY_TEXT_MAX 70 /* bytes */

/* The colours of causes: 1 and so on; the last one is for all causes without a colour of their own. */
struct colouring {
	const struct explained *x;
	unsigned cause[COLOURS - 1];
	double weight[COLOURS - 1]; /* share of each */
	size_t count;
	bool is_bare; /* the same colour on either CPU */
	bool others;
};

/* What the figures of one flow are made from. */
struct tail {
	const struct report *report;
	const struct report_point *point;
	const struct layout_flow *flow;
	const struct explained *x;
	const struct late_message **worst;
};

/* --- colours --- */

static size_t colour_of(struct colouring *c, unsigned cause)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->cause[i] == cause)
			return i + 1;
	c->others = true;
	return COLOURS;
}

static void colour_add(struct colouring *c, unsigned cause, double weight)
{
	if (c->count == COLOURS - 1)
		return;
	c->cause[c->count] = cause;
	c->weight[c->count++] = weight;
}

/* The most frequent causes have colours of their own. */
static struct colouring colour_by_messages(const struct explained *x)
{
	struct colouring c = {.x = x};
	size_t count;
	struct explained_cause *list = explained_causes(x, &count);

	for (size_t i = 0; i < count; i++)
		colour_add(&c, list[i].cause, (double)list[i].messages / (double)x->late.count);
	free(list);
	return c;
}

static void describe(const struct colouring *c, unsigned cause, char *text, size_t size)
{
	struct cause of = c->x->causes.list[cause];

	of.side = c->is_bare ? CAUSE_NO_SIDE : of.side;
	cause_describe(&of, text, size);
}

/* Set the names of the colours for the key, with shares if there are any. */
static void set_colours(struct figures *f, const struct colouring *c)
{
	figure_set_array(f, "causes", COLOURS);
	for (size_t i = 0; i < COLOURS; i++) {
		char text[CAUSE_TEXT_MAX] = "", *key;

		if (i < c->count)
			describe(c, c->cause[i], text, sizeof(text));
		else if (i == COLOURS - 1 && c->others)
			snprintf(text, sizeof(text), "others");
		figure_one_line(text, KEY_TEXT_MAX);
		key = i < c->count && c->weight[i] > 0 ? fs_path("%s, %.1f %%", text, 100 * c->weight[i])
						       : fs_path("%s", text);
		figure_set_item(f, "causes", i, key);
		free(key);
	}
	/* Names are long, so the key has one column. */
	figure_set_key(f, WIDTH, c->count + c->others, WIDTH);
}

/* --- both figures --- */

static FILE *tail_begin(struct figures *f, const struct tail *t, const char *kind, const char *what, struct err *e)
{
	FILE *table = figure_begin(f, kind, t->point,
				   fs_path("%s%s%s-%s", t->point->name, *t->flow->name ? "-" : "", t->flow->name, kind),
				   fs_path("%s; %zu were late: %s%s%s", what, t->x->late.count, t->flow->name,
					   *t->flow->name ? ", " : "", t->point->label),
				   e);

	f->items[f->count - 1].flow = t->flow->name;
	return table;
}

static void tail_title(struct figures *f, const struct tail *t, const char *what)
{
	figure_set_title(f, t->report, "%s%s%s%s%s", t->flow->name, *t->flow->name ? ": " : "", t->point->label,
			 *t->point->label || *t->flow->name ? ": " : "", what);
}

/* --- the tail by cause --- */

static int64_t latency_of(const struct tail *t, const struct late_message *m)
{
	return (m->to - m->from) / t->x->series->divide;
}

/* All of the first ranks, then increasingly fewer. */
static void tail_table(FILE *table, const struct tail *t, struct colouring *c)
{
	size_t next;

	fputs("rank\tns\tcolour\tcause\n", table);
	for (size_t i = 0; i < t->x->late.count; i = next) {
		const struct late_message *m = t->worst[i];
		char text[CAUSE_TEXT_MAX];

		fprintf(table, "%zu\t%" PRId64 "\t%zu\t", i + 1, latency_of(t, m), colour_of(c, m->cause));
		escape_tsv(table, cause_describe(&t->x->causes.list[m->cause], text, sizeof(text)));
		fputc('\n', table);
		next = i < DOTS_FIRST ? i + 1 : (size_t)((double)(i + 1) * DOTS_STEP);
	}
}

static int add_tail(struct figures *f, const struct tail *t, struct err *e)
{
	struct colouring colours = colour_by_messages(t->x);
	FILE *table = tail_begin(f, t, "tail", "Late messages by rank and cause", e);
	const double top = (double)latency_of(t, t->worst[0]);
	const struct axis_unit unit = figure_axis_unit(top);

	if (table) {
		tail_table(table, t, &colours);
		tail_title(f, t, "late messages by cause");
		set_colours(f, &colours);
		figure_set(f, "series", t->x->series->label);
		figure_set(f, "unit", unit.name);
		figure_set_number(f, "unit_ns", unit.ns);
		figure_set_number(f, "bottom", 0.9 * fmax(1, (double)t->flow->limit_ns) / unit.ns);
		figure_set_number(f, "top", 1.3 * top / unit.ns);
		figure_set_number(f, "count", (double)t->x->late.count);
		fprintf(f->script, "width = %d\nheight = %d + %d * key_rows\n", WIDTH, TAIL_HEIGHT, FIGURE_KEY_ROW);
	}
	return figure_end(f, table, e);
}

/* --- timelines of the worst --- */

static size_t shown_worst(const struct tail *t)
{
	return t->x->late.count < WORST ? t->x->late.count : WORST;
}

/* The first cause that only differs in the side of the CPU. */
static unsigned bare_of(const struct explained *x, unsigned cause)
{
	const struct cause *list = x->causes.list;
	unsigned first = 0;

	while (list[first].class != list[cause].class || strcmp(list[first].name, list[cause].name) != 0)
		first++;
	return first;
}

struct cause_time {
	unsigned cause;
	int64_t time;
};

static int by_most_time(const void *a, const void *b)
{
	const struct cause_time *one = a, *other = b;

	if (one->time != other->time)
		return one->time < other->time ? 1 : -1;
	return (one->cause > other->cause) - (one->cause < other->cause);
}

/* The causes that took most of the worst messages' time have colours of their own. */
static struct colouring colour_by_time(const struct tail *t)
{
	struct cause_time *all = or_abort(calloc(t->x->causes.count + 1, sizeof(*all)));
	struct colouring c = {.x = t->x, .is_bare = true};

	for (unsigned i = 0; i < t->x->causes.count; i++)
		all[i].cause = i;
	for (size_t i = 0; i < shown_worst(t); i++) {
		const struct late_message *m = t->worst[i];

		for (unsigned side = 0; side < 2; side++) {
			const struct cause_shares shares =
			    attribution_shares(explained_line(t->x, m, side), m->from, m->to);

			for (size_t k = 0; k < shares.count; k++)
				all[bare_of(t->x, shares.list[k].cause)].time += shares.list[k].time;
		}
	}
	qsort(all, t->x->causes.count, sizeof(*all), by_most_time);
	for (size_t i = 0; i < t->x->causes.count && all[i].time > 0; i++)
		colour_add(&c, all[i].cause, 0);
	free(all);
	return c;
}

/* Shift a time from a file without overflow. */
static int64_t tail_shift(int64_t time, int64_t by)
{
	int64_t shifted;

	return !__builtin_add_overflow(time, by, &shifted) ? shifted : by < 0 ? INT64_MIN : INT64_MAX;
}

static double tail_clamp(int64_t value, int64_t least, int64_t most)
{
	return (double)(value < least ? least : value > most ? most : value);
}

/* What took the CPU of one side, including a little time before and after. */
static void lane_table(FILE *table, const struct tail *t, size_t row, unsigned side, struct colouring *c)
{
	const struct late_message *m = t->worst[row];
	const struct timeline *line = explained_line(t->x, m, side);
	const double sent = (double)m->from, took = (double)(m->to - m->from);
	const int64_t around = (int64_t)(AROUND * took), first = tail_shift(m->from, -around),
		      last = tail_shift(m->to, around);
	char text[CAUSE_TEXT_MAX];

	for (size_t i = line ? timeline_find(line, first) : 0; line && i < line->count && line->segments[i].from < last;
	     i++) {
		const struct timeline_segment *s = &line->segments[i];
		const double from = tail_clamp(s->from, first, last), to = tail_clamp(s->to, first, last);

		if (to - from < took / FINEST)
			continue;
		fprintf(table, "%zu\t%u\t%.5g\t%.5g\t%zu\t%.0f\t%.0f\t", row + 1, side + 1, 100 * (from - sent) / took,
			100 * (to - sent) / took, colour_of(c, bare_of(t->x, s->cause)), (double)s->from - sent,
			(double)s->to - (double)s->from);
		escape_tsv(table, cause_describe(&t->x->causes.list[s->cause], text, sizeof(text)));
		fputc('\n', table);
	}
}

static void timeline_table(FILE *table, const struct tail *t, struct colouring *c)
{
	fputs("message\tside\tfrom_percent\tto_percent\tcolour\tfrom_ns\tlength_ns\tcause\n", table);
	for (size_t row = 0; row < shown_worst(t); row++)
		for (unsigned side = 0; side < 2; side++)
			lane_table(table, t, row, side, c);
}

/* "363 ms", "repetition 1, message 124163"; and which sides are known. */
static void set_worst(struct figures *f, const struct tail *t)
{
	char took[32];

	figure_set_number(f, "around", 100 * AROUND);
	figure_set_count(f, "messages", shown_worst(t));
	figure_set_array(f, "took", WORST);
	figure_set_array(f, "which", WORST);
	figure_set_array(f, "known", 2 * WORST);
	for (size_t i = 0; i < shown_worst(t); i++) {
		const struct late_message *m = t->worst[i];
		const struct explained_rep *r = explained_rep_of(t->x, m);
		char *which = fs_path("repetition %u, message %zu", r->rep->number, m->message);

		figure_set_item(f, "took", i, unit_human_ns(m->to - m->from, took, sizeof(took)));
		figure_set_item(f, "which", i, which);
		for (unsigned side = 0; side < 2; side++)
			figure_set_item_number(f, "known", 2 * i + side, explained_line(t->x, m, side) != NULL);
		free(which);
	}
}

static int add_timelines(struct figures *f, const struct tail *t, struct err *e)
{
	struct colouring colours = colour_by_time(t);
	FILE *table = tail_begin(f, t, "timeline", "What ran on the CPUs during the worst messages, and when", e);

	if (table) {
		timeline_table(table, t, &colours);
		tail_title(f, t, "the worst messages, and what ran on their CPUs");
		set_colours(f, &colours);
		set_worst(f, t);
		fprintf(f->script, "width = %d\nheight = 120 + %d * messages + %d * key_rows\n", WIDTH, ROW_HEIGHT,
			FIGURE_KEY_ROW);
	}
	return figure_end(f, table, e);
}

/* --- flows --- */

static int tail_add_flow(struct figures *f, const struct report *r, const struct report_point *p,
			 const struct layout_flow *flow, struct err *e)
{
	struct explained_flow found;
	int rc = explained_open(r->runs[p->run].run->path, flow, &found, e);

	if (rc > 0 && found.found.late.count) {
		const struct tail t = {r, p, flow, &found.found, explained_worst(&found.found)};

		rc = add_tail(f, &t, e) ?: add_timelines(f, &t, e);
		free(t.worst);
	}
	explained_close(&found);
	return rc < 0 ? rc : 0;
}

int figure_tail_add(struct figures *f, const struct report *r, struct err *e)
{
	size_t drawn = 0;
	int rc = 0;

	/* The summary tells whether there is anything to draw; columns and events may be long. */
	for (size_t i = 0; !rc && i < r->count; i++)
		for (size_t k = 0; !rc && k < r->points[i].layout.flow_count; k++) {
			const struct layout_flow *flow = &r->points[i].layout.flows[k];

			if (drawn < FLOWS_MAX && model_late(&r->points[i], flow)) {
				rc = tail_add_flow(f, r, &r->points[i], flow, e);
				drawn++;
			}
		}
	return rc;
}
