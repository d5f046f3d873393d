#include "judge/analysis/timeline_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"
#include "judge/analysis/cause.h"
#include "judge/analysis/timeline.h"

/*
 * Gaps between two polls of a loop, as the loop itself saw them. They fill the parts of the
 * timeline that segments leave open.
 */

/* A gap that the loop saw, or a mark: the moment `from` at which the cause occurred. */
struct timeline_moment {
	int64_t from, to;
	unsigned cause;
};

struct timeline_moments {
	struct timeline_moment *list;
	size_t count;
};

struct timeline_gaps {
	struct cause_table *causes;
	unsigned side;			     /* as in struct cause */
	struct timeline_moments seen, marks; /* in chronological order */
};

#define ENTRY_NS 1000 /* maximum time that an interrupt takes before and after its own events */

static void timeline_gaps_note(struct timeline_moments *m, int64_t from, int64_t to, unsigned cause)
{
	m->list = grow_or_abort(m->list, m->count, sizeof(*m->list));
	m->list[m->count++] = (struct timeline_moment){from, to, cause};
}

static void timeline_gaps_free(struct timeline_gaps *gaps)
{
	free(gaps->seen.list);
	free(gaps->marks.list);
}

/* A gap between two polls, as far as segments do not cover it. Its cause is a fault, if one began
 * there; an interrupt, if the gap is just before and after the interrupt's events; or something
 * that the kernel does not know about. */
struct gap {
	int64_t from, to, covered;
	unsigned most, moment; /* causes: that of the longest segment in it; that of a moment */
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

static unsigned gap_cause(const struct timeline_gaps *gaps, const struct gap *g)
{
	const int64_t rest = g->to - g->from - g->covered;

	if (g->moment != TIMELINE_NO_CAUSE)
		return g->moment;
	if (g->most != TIMELINE_NO_CAUSE && (rest <= ENTRY_NS || rest <= g->covered / 2))
		return g->most;
	return cause_table_of(gaps->causes, CAUSE_BELOW, gaps->side, "");
}

/* Append the parts of a gap between the segments to the list. */
static void gap_fill(struct timeline *t, size_t first, size_t before, const struct gap *g, unsigned cause)
{
	int64_t at = g->from;

	for (size_t i = first; i < before && t->segments[i].from < g->to; i++) {
		const struct timeline_segment s = t->segments[i];

		if (s.from > at)
			timeline_add(t, at, s.from < g->to ? s.from : g->to, cause);
		at = s.to > at ? s.to : at;
	}
	timeline_add(t, at, g->to, cause);
}

/* Add segments for the gaps. The existing segments are in chronological order, and so is the result. */
static void timeline_gaps_fill(const struct timeline_gaps *gaps, struct timeline *t)
{
	const struct timeline_moments *marks = &gaps->marks;
	const size_t before = t->count;
	size_t first = 0, mark = 0;

	for (size_t i = 0; i < gaps->seen.count; i++) {
		const struct timeline_moment *is = &gaps->seen.list[i];
		struct gap g = {.from = is->from, .to = is->to, .most = TIMELINE_NO_CAUSE, .moment = TIMELINE_NO_CAUSE};

		if (i && g.from < is[-1].to)
			g.from = is[-1].to;
		while (first < before && t->segments[first].to <= g.from)
			first++;
		while (mark < marks->count && marks->list[mark].from < g.from)
			mark++;
		if (mark < marks->count && marks->list[mark].from < g.to)
			g.moment = marks->list[mark].cause;
		gap_measure(t, first, before, &g);
		gap_fill(t, first, before, &g, gap_cause(gaps, &g));
	}
	timeline_sort(t);
}

#define NESTED 16 /* maximum number of nested contexts */
#define NO_CPU INT64_MIN
#define STATES 16 /* idle states of a CPU */

/* Who has the CPU, apart from interrupts. */
enum turn { TURN_OWN, TURN_OTHER, TURN_IDLE };

/* A nested context. */
struct context {
	int leave; /* the kind of event that ends it */
	unsigned cause;
};

struct builder {
	const struct trace_file *file;
	struct cause_table *causes;
	struct timeline *out;
	unsigned side;
	bool sleeps;
	unsigned plain[CAUSE_CLASSES];	/* causes without a name; TIMELINE_NO_CAUSE: not looked up yet */
	unsigned *named[CAUSE_CLASSES]; /* causes with a name, by the index of the name */
	unsigned *works;		/* causes for work items, by the name of the function */
	int64_t cpu, now;
	enum turn turn;
	enum trace_kind left;	  /* how the endpoint's thread left the CPU; TRACE_WOKEN: it is waiting for the CPU */
	unsigned other;		  /* the cause for another task that has the CPU */
	int64_t idle_state;	  /* that the CPU is in; -1: none or unknown */
	unsigned leaving[STATES]; /* the cause for leaving each state; TIMELINE_NO_CAUSE: not looked up yet */
	struct context stack[NESTED];
	size_t depth;
	struct timeline_gaps gaps;
};

/* --- causes --- */

static unsigned plain_cause(struct builder *b, enum cause_class class)
{
	if (b->plain[class] == TIMELINE_NO_CAUSE)
		b->plain[class] = cause_table_of(b->causes, class, b->side, "");
	return b->plain[class];
}

/* Where the cause for a name is stored; NULL: there is no such name. */
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
	if (*known == TIMELINE_NO_CAUSE)
		*known = cause_table_of(b->causes, class, b->side, trace_file_name(b->file, name));
	return *known;
}

/* The thread is being woken up, and the CPU is idle. */
static unsigned cause_of_waking(struct builder *b)
{
	char number[16];

	if (b->idle_state < 0 || b->idle_state >= STATES)
		return plain_cause(b, CAUSE_WAKE_UP);
	unsigned *known = &b->leaving[b->idle_state];

	if (*known == TIMELINE_NO_CAUSE) {
		snprintf(number, sizeof(number), "%lld", (long long)b->idle_state);
		*known = cause_table_of(b->causes, CAUSE_IDLE_EXIT, b->side, number);
	}
	return *known;
}

/* What the thread waits for while it does not run; TIMELINE_NO_CAUSE: only for messages. */
static unsigned cause_of_absence(struct builder *b)
{
	switch (b->left) {
	case TRACE_STOPPED:
		return plain_cause(b, CAUSE_STOPPED);
	case TRACE_SLEPT:
		return b->sleeps ? TIMELINE_NO_CAUSE : plain_cause(b, CAUSE_SLEPT);
	case TRACE_PREEMPTED:
	case TRACE_WOKEN:
		return b->turn == TURN_IDLE ? cause_of_waking(b) : b->other;
	default:
		return TIMELINE_NO_CAUSE;
	}
}

/* The cause for what runs until the next event. */
static unsigned cause_now(struct builder *b)
{
	if (b->turn == TURN_OWN)
		return b->depth ? b->stack[b->depth - 1].cause : TIMELINE_NO_CAUSE;
	const unsigned absence = cause_of_absence(b);

	/* An interrupt during another task's turn is what delays the thread at that moment; while
	 * the thread sleeps, nothing delays it. */
	return b->depth && absence != TIMELINE_NO_CAUSE && b->left != TRACE_STOPPED && b->left != TRACE_SLEPT
		   ? b->stack[b->depth - 1].cause
		   : absence;
}

/* --- events --- */

static void push(struct builder *b, enum trace_kind leave_context, unsigned cause)
{
	if (b->depth < NESTED)
		b->stack[b->depth++] = (struct context){leave_context, cause};
}

/* An end without a beginning belongs to a context that began before the trace; the ends of contexts
 * inside the ended one were not seen. */
static void pop(struct builder *b, enum trace_kind leave)
{
	for (size_t i = b->depth; i > 0; i--)
		if (b->stack[i - 1].leave == (int)leave) {
			b->depth = i - 1;
			return;
		}
}

/* An event of a traced CPU that concerns the endpoint's thread. */
struct event {
	enum trace_kind kind;
	int64_t time, name, value;
};

/* What a kind of event does; the rows are in common/lateness.def. */
struct kind_rule {
	void (*take)(struct builder *b, const struct kind_rule *rule, const struct event *v); /* NULL: nothing */
	enum cause_class cause;
	enum trace_kind until; /* the kind that ends the context which this one begins */
	bool takes_value;      /* the event comes at the end of what took as long as its value says */
};

static void enter_context(struct builder *b, const struct kind_rule *rule, const struct event *v)
{
	push(b, rule->until, named_cause(b, rule->cause, v->name));
}

static void enter_irq(struct builder *b, const struct kind_rule *rule, const struct event *v)
{
	const bool is_ipi = strstr(trace_file_name(b->file, v->name), "IPI");

	push(b, rule->until, named_cause(b, is_ipi ? CAUSE_IPI : rule->cause, v->name));
}

static void leave_context(struct builder *b, const struct kind_rule *rule, const struct event *v)
{
	(void)rule;
	pop(b, v->kind);
}

static void take_turn(struct builder *b, enum turn turn, unsigned other)
{
	b->turn = turn;
	b->other = other;
	b->idle_state = -1;
	b->depth = 0; /* interrupts do not switch tasks */
}

static void give_to_other(struct builder *b, const struct kind_rule *rule, const struct event *v)
{
	take_turn(b, TURN_OTHER, named_cause(b, rule->cause, v->name));
}

static void give_to_own(struct builder *b, const struct kind_rule *rule, const struct event *v)
{
	(void)rule, (void)v;
	take_turn(b, TURN_OWN, TIMELINE_NO_CAUSE);
}

static void go_idle(struct builder *b, const struct kind_rule *rule, const struct event *v)
{
	(void)rule, (void)v;
	take_turn(b, TURN_IDLE, TIMELINE_NO_CAUSE);
}

static void change_idle_state(struct builder *b, const struct kind_rule *rule, const struct event *v)
{
	(void)rule;
	b->idle_state = v->value;
}

/* The function of a work item is more informative than the kworker that runs it. */
static void enter_work(struct builder *b, const struct kind_rule *rule, const struct event *v)
{
	unsigned *known = b->turn == TURN_OTHER ? place_of_name(b, &b->works, v->name) : NULL;
	char text[CAUSE_NAME_MAX];

	if (!known)
		return;
	if (*known == TIMELINE_NO_CAUSE) {
		snprintf(text, sizeof(text), "kworker (%s)", trace_file_name(b->file, v->name));
		*known = cause_table_of(b->causes, rule->cause, b->side, text);
	}
	b->other = *known;
}

static void go_away(struct builder *b, const struct kind_rule *rule, const struct event *v)
{
	(void)rule;
	b->left = v->kind;
}

static void wake(struct builder *b, const struct kind_rule *rule, const struct event *v)
{
	(void)rule;
	if (b->left == TRACE_SLEPT || b->left == TRACE_STOPPED)
		b->left = v->kind;
}

/* At a single moment, without beginning and end. */
static void mark(struct builder *b, const struct kind_rule *rule, const struct event *v)
{
	timeline_gaps_note(&b->gaps.marks, v->time, v->time, plain_cause(b, rule->cause));
}

static void mark_own(struct builder *b, const struct kind_rule *rule, const struct event *v)
{
	if (b->turn == TURN_OWN)
		mark(b, rule, v);
}

static void see_gap(struct builder *b, const struct kind_rule *rule, const struct event *v)
{
	if (b->sleeps)
		return;
	if (v->value > 0)
		timeline_gaps_note(&b->gaps.seen, v->time - v->value, v->time, TIMELINE_NO_CAUSE);
	/* A thread that polls has the CPU: some kernels do not trace every switch to it. */
	if (b->turn != TURN_OWN)
		give_to_own(b, rule, v);
}

static const struct kind_rule rules[TRACE_KINDS] = {
#define KIND(id, key, help, ...) [TRACE_##id] = {__VA_ARGS__},
#include "common/lateness.def"
};

/* Record what has had the CPU since the last event. */
static void pass_time(struct builder *b, int64_t until)
{
	const unsigned cause = b->cpu == NO_CPU ? TIMELINE_NO_CAUSE : cause_now(b);

	if (cause != TIMELINE_NO_CAUSE)
		timeline_add(b->out, b->now, until, cause);
	if (until > b->now)
		b->now = until;
}

/* -1: unknown kind. */
static int timeline_kind(const struct trace_file *f, const int64_t *word)
{
	const int64_t number = word[TRACE_KIND];

	return number >= 0 && number < TRACE_FILE_KINDS ? f->kind[number] : -1;
}

static void timeline_take(struct builder *b, const int64_t *word)
{
	const int64_t time = word[TRACE_TIME];
	const int kind = timeline_kind(b->file, word);
	const struct kind_rule *rule;

	if (kind < 0)
		return;
	if (kind == TRACE_OWN && word[TRACE_CPU] != b->cpu) {
		/* It has moved to another CPU, so waiting for the old one is over. */
		pass_time(b, time);
		b->now = time;
		b->cpu = word[TRACE_CPU];
	}
	if (b->cpu == NO_CPU || (kind != TRACE_WOKEN && word[TRACE_CPU] != b->cpu))
		return;
	rule = &rules[kind];
	if (rule->takes_value && word[TRACE_VALUE] > 0 && word[TRACE_VALUE] < time - b->now) {
		pass_time(b, time - word[TRACE_VALUE]);
		timeline_add(b->out, b->now, time, named_cause(b, rule->cause, word[TRACE_NAME]));
		b->now = time;
	}
	pass_time(b, time);
	if (rule->take)
		rule->take(b, rule, &(struct event){(enum trace_kind)kind, time, word[TRACE_NAME], word[TRACE_VALUE]});
}

/* --- all events --- */

/* The time at which the thread lost its CPU for good: it was taken away, and the thread continued
 * on a CPU that is not traced. */
static int64_t timeline_gone_since(const struct trace_file *f)
{
	for (size_t i = f->events; i > 0; i--) {
		const int64_t *word = f->words + (i - 1) * TRACE_WORDS;
		const int kind = timeline_kind(f, word);

		if (kind == TRACE_PREEMPTED)
			return word[TRACE_TIME];
		if (kind == TRACE_OWN || kind == TRACE_SLEPT || kind == TRACE_STOPPED)
			break;
	}
	return INT64_MAX;
}

static int64_t known_until(const struct trace_file *f)
{
	int64_t least = INT64_MAX;
	const char *cpu;
	json_t *time;

	json_object_foreach (json_object_get(f->about, "known_until_ns"), cpu, time)
		if (json_integer_value(time) < least)
			least = json_integer_value(time);
	if (*trace_file_why(f))
		return INT64_MIN;
	return least < INT64_MAX ? least : timeline_gone_since(f);
}

static int64_t timeline_gaps_until(const struct trace_file *f)
{
	if (json_integer_value(json_object_get(f->about, "gaps_missed")) <= 0)
		return INT64_MAX;
	for (size_t i = f->events; i > 0; i--) {
		const int64_t *word = f->words + (i - 1) * TRACE_WORDS;

		if (timeline_kind(f, word) == TRACE_GAP)
			return word[TRACE_TIME];
	}
	return INT64_MIN;
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
			    .left = TRACE_SLEPT,
			    .idle_state = -1,
			    .gaps = {.causes = causes, .side = side}};

	*out = (struct timeline){.known_until = known_until(f), .gaps_until = timeline_gaps_until(f)};
	memset(b.plain, 0xff, sizeof(b.plain));
	memset(b.leaving, 0xff, sizeof(b.leaving));
	for (size_t i = 0; i < f->events; i++) {
		const int64_t *word = f->words + i * TRACE_WORDS;

		/* Events were lost: from then on it is unknown who has the CPU. */
		if (word[TRACE_TIME] > out->known_until) {
			pass_time(&b, out->known_until);
			break;
		}
		timeline_take(&b, word);
	}
	out->cpu = b.cpu;
	timeline_gaps_fill(&b.gaps, out);
	timeline_gaps_free(&b.gaps);
	for (size_t i = 0; i < CAUSE_CLASSES; i++)
		free(b.named[i]);
	free(b.works);
}
