#include "analysis/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/or_abort.h"

#define NESTED	 16 /* contexts inside each other */
#define NO_CPU	 INT64_MIN
#define NONE	 UINT32_MAX /* no cause: the endpoint runs, or sleeps as it should */
#define ENTRY_NS 1000	    /* what an interrupt takes before and after its own events, at most */

/* Who has the CPU below interrupts. */
enum turn { TURN_OWN, TURN_OTHER, TURN_IDLE };

/* What runs inside what. */
struct context {
	int leave; /* the kind of event that ends it */
	unsigned cause;
};

/* A gap that the loop saw; or, with a cause, a moment that says what happened in one. */
struct moment {
	int64_t from, to;
	unsigned cause;
};

struct moments {
	struct moment *list;
	size_t count, room;
};

struct builder {
	const struct trace_file *file;
	struct cause_table *causes;
	struct timeline *out;
	unsigned side;
	bool sleeps;
	unsigned plain[CAUSE_CLASSES];	/* causes without a name; NONE: not looked up yet */
	unsigned *named[CAUSE_CLASSES]; /* and with one, by the name's number */
	unsigned *works;		/* of kworkers, by the name of the function */
	int64_t cpu, now;
	enum turn turn;
	enum trace_kind left; /* how the endpoint's thread left the CPU; TRACE_WOKEN: it waits for it */
	unsigned other;	      /* the cause that the turn of another task is */
	struct context stack[NESTED];
	size_t depth;
	struct moments gaps, marks;
};

/* --- segments --- */

static void add_segment(struct timeline *t, int64_t from, int64_t to, unsigned cause)
{
	struct timeline_segment *last = t->count ? &t->segments[t->count - 1] : NULL;

	if (from >= to)
		return;
	if (last && last->to == from && last->cause == cause) {
		last->to = to;
		return;
	}
	if (t->count == t->room) {
		t->room = t->room ? 2 * t->room : 1024;
		t->segments = or_abort(realloc(t->segments, t->room * sizeof(*t->segments)));
	}
	t->segments[t->count++] = (struct timeline_segment){from, to, cause};
}

/* --- causes --- */

static unsigned plain_cause(struct builder *b, enum cause_class class)
{
	if (b->plain[class] == NONE)
		b->plain[class] = cause_table_of(b->causes, class, b->side, "");
	return b->plain[class];
}

/* Where the cause of a name is kept; NULL: there is no such name. */
static unsigned *place_of_name(struct builder *b, unsigned **list, int64_t name)
{
	if (name < 0 || (size_t)name >= b->file->names)
		return NULL;
	if (!*list) {
		*list = or_abort(malloc(b->file->names * sizeof(**list)));
		memset(*list, 0xff, b->file->names * sizeof(**list));
	}
	return &(*list)[name];
}

static unsigned named_cause(struct builder *b, enum cause_class class, int64_t name)
{
	unsigned *known = place_of_name(b, &b->named[class], name);

	if (!known)
		return plain_cause(b, class);
	if (*known == NONE)
		*known = cause_table_of(b->causes, class, b->side, trace_file_name(b->file, name));
	return *known;
}

/* What the thread waits for while it does not run; NONE: for nothing but its messages. */
static unsigned cause_of_absence(struct builder *b)
{
	switch (b->left) {
	case TRACE_STOPPED:
		return plain_cause(b, CAUSE_STOPPED);
	case TRACE_SLEPT:
		return b->sleeps ? NONE : plain_cause(b, CAUSE_SLEPT);
	case TRACE_PREEMPTED:
	case TRACE_WOKEN:
		return b->turn == TURN_IDLE ? plain_cause(b, CAUSE_WAKE_UP) : b->other;
	default:
		return NONE;
	}
}

/* Whatever runs now, until the next event. */
static unsigned cause_now(struct builder *b)
{
	if (b->turn == TURN_OWN)
		return b->depth ? b->stack[b->depth - 1].cause : NONE;
	const unsigned absence = cause_of_absence(b);

	/* An interrupt in the turn of another is what holds the thread up at that moment; while it sleeps, nothing does. */
	return b->depth && absence != NONE && b->left != TRACE_STOPPED && b->left != TRACE_SLEPT
		   ? b->stack[b->depth - 1].cause
		   : absence;
}

/* --- events --- */

static void push(struct builder *b, enum trace_kind leave, unsigned cause)
{
	if (b->depth < NESTED)
		b->stack[b->depth++] = (struct context){leave, cause};
}

/* An end without a begin is of one that began before everything; what is above it has ended unseen. */
static void pop(struct builder *b, enum trace_kind leave)
{
	for (size_t i = b->depth; i > 0; i--)
		if (b->stack[i - 1].leave == (int)leave) {
			b->depth = i - 1;
			return;
		}
}

static void enter_irq(struct builder *b, int64_t name)
{
	const char *text = trace_file_name(b->file, name);

	push(b, TRACE_IRQ_EXIT, named_cause(b, strstr(text, "IPI") ? CAUSE_IPI : CAUSE_INTERRUPT, name));
}

static void note_moment(struct moments *m, int64_t from, int64_t to, unsigned cause)
{
	if (m->count == m->room) {
		m->room = m->room ? 2 * m->room : 256;
		m->list = or_abort(realloc(m->list, m->room * sizeof(*m->list)));
	}
	m->list[m->count++] = (struct moment){from, to, cause};
}

static void take_turn(struct builder *b, enum turn turn, unsigned other)
{
	b->turn = turn;
	b->other = other;
	b->depth = 0; /* nobody is switched to from inside an interrupt */
}

/* What a work item is for says more than which kworker runs it. */
static void enter_work(struct builder *b, int64_t name)
{
	unsigned *known = b->turn == TURN_OTHER ? place_of_name(b, &b->works, name) : NULL;
	char text[CAUSE_NAME_MAX];

	if (!known)
		return;
	if (*known == NONE) {
		snprintf(text, sizeof(text), "kworker (%s)", trace_file_name(b->file, name));
		*known = cause_table_of(b->causes, CAUSE_KERNEL_THREAD, b->side, text);
	}
	b->other = *known;
}

static void apply(struct builder *b, enum trace_kind kind, int64_t name)
{
	switch (kind) {
	case TRACE_IRQ_ENTER:
		enter_irq(b, name);
		break;
	case TRACE_SOFTIRQ_ENTER:
		push(b, TRACE_SOFTIRQ_EXIT, named_cause(b, CAUSE_SOFTIRQ, name));
		break;
	case TRACE_IRQ_EXIT:
	case TRACE_SOFTIRQ_EXIT:
		pop(b, kind);
		break;
	case TRACE_TASK:
		take_turn(b, TURN_OTHER, named_cause(b, CAUSE_TASK, name));
		break;
	case TRACE_KERNEL_THREAD:
		take_turn(b, TURN_OTHER, named_cause(b, CAUSE_KERNEL_THREAD, name));
		break;
	case TRACE_IDLE:
		take_turn(b, TURN_IDLE, NONE);
		break;
	case TRACE_OWN:
		take_turn(b, TURN_OWN, NONE);
		break;
	case TRACE_WORK_ENTER:
		enter_work(b, name);
		break;
	case TRACE_PREEMPTED:
	case TRACE_SLEPT:
	case TRACE_STOPPED:
		b->left = kind;
		break;
	case TRACE_WOKEN:
		if (b->left == TRACE_SLEPT || b->left == TRACE_STOPPED)
			b->left = TRACE_WOKEN;
		break;
	default:
		break;
	}
}

/* Events that have a moment rather than a begin and an end. */
static void note_event(struct builder *b, enum trace_kind kind, int64_t time, int64_t value)
{
	if (kind == TRACE_FAULT && b->turn == TURN_OWN)
		note_moment(&b->marks, time, time, plain_cause(b, CAUSE_FAULT));
	else if (kind == TRACE_MACHINE_CHECK)
		note_moment(&b->marks, time, time, plain_cause(b, CAUSE_MACHINE_CHECK));
	else if (kind == TRACE_FREQUENCY)
		note_moment(&b->marks, time, time, plain_cause(b, CAUSE_FREQUENCY));
	else if (kind == TRACE_GAP && value > 0 && !b->sleeps)
		note_moment(&b->gaps, time - value, time, NONE);
}

/* What has had the CPU since the last event. */
static void pass_time(struct builder *b, int64_t until)
{
	const unsigned cause = b->cpu == NO_CPU ? NONE : cause_now(b);

	if (cause != NONE)
		add_segment(b->out, b->now, until, cause);
	if (until > b->now)
		b->now = until;
}

static void timeline_take(struct builder *b, const int64_t *word)
{
	const int64_t number = word[TRACE_KIND], time = word[TRACE_TIME];
	const int kind = number >= 0 && number < TRACE_FILE_KINDS ? b->file->kind[number] : -1;

	if (kind < 0)
		return;
	if (kind == TRACE_OWN && word[TRACE_CPU] != b->cpu) {
		/* It has come to another CPU: what it waited for on the old one is over. */
		pass_time(b, time);
		b->now = time;
		b->cpu = word[TRACE_CPU];
	}
	if (b->cpu == NO_CPU || (kind != TRACE_WOKEN && word[TRACE_CPU] != b->cpu))
		return;
	if (kind == TRACE_NMI && word[TRACE_VALUE] > 0 && word[TRACE_VALUE] < time - b->now) {
		pass_time(b, time - word[TRACE_VALUE]);
		add_segment(b->out, b->now, time, named_cause(b, CAUSE_NMI, word[TRACE_NAME]));
		b->now = time;
	}
	pass_time(b, time);
	note_event(b, (enum trace_kind)kind, time, word[TRACE_VALUE]);
	apply(b, (enum trace_kind)kind, word[TRACE_NAME]);
}

/* --- gaps --- */

/* What came between two polls, as far as segments do not cover it: a fault, if one began there; what belongs to an
 * interrupt but lies before and after its events; or nothing that the kernel knows of. */
struct gap {
	int64_t from, to, covered;
	unsigned most, moment; /* causes: of the longest segment in it; of a moment */
	int64_t longest;
};

static void gap_measure(const struct timeline *t, size_t first, size_t before, struct gap *g)
{
	for (size_t i = first; i < before && t->segments[i].from < g->to; i++) {
		const struct timeline_segment *s = &t->segments[i];
		const int64_t from = s->from > g->from ? s->from : g->from, to = s->to < g->to ? s->to : g->to;

		if (to <= from)
			continue;
		g->covered += to - from;
		if (to - from > g->longest) {
			g->longest = to - from;
			g->most = s->cause;
		}
	}
}

static unsigned gap_cause(struct builder *b, const struct gap *g)
{
	const int64_t rest = g->to - g->from - g->covered;

	if (g->moment != NONE)
		return g->moment;
	if (g->most != NONE && (rest <= ENTRY_NS || rest <= g->covered / 2))
		return g->most;
	return plain_cause(b, CAUSE_BELOW);
}

/* The pieces of a gap between the segments, added at the end of the list. */
static void gap_fill(struct builder *b, size_t first, size_t before, const struct gap *g, unsigned cause)
{
	int64_t at = g->from;

	for (size_t i = first; i < before && b->out->segments[i].from < g->to; i++) {
		const struct timeline_segment s = b->out->segments[i];

		if (s.from > at)
			add_segment(b->out, at, s.from < g->to ? s.from : g->to, cause);
		at = s.to > at ? s.to : at;
	}
	add_segment(b->out, at, g->to, cause);
}

static int timeline_by_time(const void *a, const void *b)
{
	const int64_t one = ((const struct timeline_segment *)a)->from,
		      other = ((const struct timeline_segment *)b)->from;

	return (one > other) - (one < other);
}

/* Those that follow each other and have one cause are one. */
static void join_segments(struct timeline *t)
{
	const size_t before = t->count;

	t->count = 0;
	for (size_t i = 0; i < before; i++)
		add_segment(t, t->segments[i].from, t->segments[i].to, t->segments[i].cause);
}

/* Gaps and marks are in order of time, and so are the segments that are there already. */
static void fill_gaps(struct builder *b)
{
	const size_t before = b->out->count;
	size_t first = 0, mark = 0;

	for (size_t i = 0; i < b->gaps.count; i++) {
		struct gap g = {.from = b->gaps.list[i].from, .to = b->gaps.list[i].to, .most = NONE, .moment = NONE};

		if (i && g.from < b->gaps.list[i - 1].to)
			g.from = b->gaps.list[i - 1].to;
		while (first < before && b->out->segments[first].to <= g.from)
			first++;
		while (mark < b->marks.count && b->marks.list[mark].from < g.from)
			mark++;
		if (mark < b->marks.count && b->marks.list[mark].from < g.to)
			g.moment = b->marks.list[mark].cause;
		gap_measure(b->out, first, before, &g);
		gap_fill(b, first, before, &g, gap_cause(b, &g));
	}
	if (!b->out->count)
		return;
	qsort(b->out->segments, b->out->count, sizeof(*b->out->segments), timeline_by_time);
	join_segments(b->out);
}

/* --- all of it --- */

static int64_t known_until(const struct trace_file *f)
{
	int64_t least = INT64_MAX;
	const char *cpu;
	json_t *time;

	json_object_foreach (json_object_get(f->about, "known_until_ns"), cpu, time)
		if (json_integer_value(time) < least)
			least = json_integer_value(time);
	return *trace_file_why(f) ? INT64_MIN : least;
}

void timeline_build(const struct trace_file *f, unsigned side, bool sleeps, struct cause_table *causes,
		    struct timeline *out)
{
	struct builder b = {.file = f,
			    .causes = causes,
			    .out = out,
			    .side = side,
			    .sleeps = sleeps,
			    .cpu = NO_CPU,
			    .now = INT64_MIN,
			    .turn = TURN_IDLE,
			    .left = TRACE_SLEPT};

	*out = (struct timeline){.known_until = known_until(f),
				 .has_gaps = json_is_true(json_object_get(f->about, "gaps"))};
	memset(b.plain, 0xff, sizeof(b.plain));
	for (size_t i = 0; i < f->events; i++)
		timeline_take(&b, f->words.data + i * TRACE_WORDS);
	fill_gaps(&b);
	for (size_t i = 0; i < CAUSE_CLASSES; i++)
		free(b.named[i]);
	free(b.works);
	free(b.gaps.list);
	free(b.marks.list);
}

void timeline_free(struct timeline *t)
{
	free(t->segments);
	*t = (struct timeline){.segments = NULL};
}

size_t timeline_find(const struct timeline *t, int64_t time)
{
	size_t low = 0, high = t->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (t->segments[middle].to > time)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}
