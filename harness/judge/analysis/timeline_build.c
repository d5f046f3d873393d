#include "judge/analysis/timeline_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpulist.h"
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
#define NOBODY INT64_MIN
#define STATES 16 /* idle states of a CPU */
#define FAULT_MOST_NS                                                                                                  \
	20000 /* the end of a page fault has no event: it takes until the thread's next one, but no longer */

/* Who has the CPU, apart from interrupts. */
enum turn { TURN_OWN, TURN_OTHER, TURN_IDLE };

/* A nested context. */
struct context {
	int leave; /* the kind of event that ends it */
	unsigned cause;
};

struct thread_view;

/* What runs on a CPU. */
struct cpu_view {
	enum turn turn;
	unsigned other;	    /* the cause for what has it, to those who wait for it */
	int64_t idle_state; /* -1: none or unknown */
	struct context stack[NESTED];
	size_t depth;
	struct thread_view *there; /* a program's threads that run on it or wait for it */
	bool ticks;		   /* the periodic tick comes to it unless it is idle */
	int64_t seen;		   /* the last event on it */
	int64_t due;		   /* the latest time of the next tick; INT64_MAX: unknown */
};

/*
 * What is followed over CPUs: an endpoint's threads, together; or one thread of a program. Of an endpoint only what
 * keeps it from running is a cause; a program's thread has one at any time, as it may run, or sleep, for too long.
 */
struct thread_view {
	struct timeline *out;
	int64_t tid; /* NOBODY: all threads of the endpoint */
	int64_t cpu, now;
	enum trace_kind left; /* how it left the CPU; TRACE_WOKEN: it is waiting for the CPU */
	int64_t left_at;
	/* of a program's thread: */
	bool runs;
	int64_t name;	    /* of its task, or -1 */
	int64_t call;	    /* the name of the system call that it is in, or -1 */
	int64_t faulted_at; /* the page fault that was its last event, or NOBODY */
	struct timeline_thread *thread;
	struct thread_view *next, **before; /* in the list of its CPU; `before` is NULL if it is in none */
};

/* A cause that two names make up. */
struct pair_cause {
	int64_t one, other;
	unsigned cause;
};

struct pair_causes {
	struct pair_cause *list;
	size_t count;
};

struct builder {
	const struct trace_file *file;
	struct cause_table *causes;
	unsigned side;
	bool sleeps;
	unsigned plain[CAUSE_CLASSES];	/* causes without a name; TIMELINE_NO_CAUSE: not looked up yet */
	unsigned *named[CAUSE_CLASSES]; /* causes with a name, by the index of the name */
	unsigned *works;		/* causes for work items, by the name of the function */
	unsigned leaving[STATES];	/* the cause for leaving each state; TIMELINE_NO_CAUSE: not looked up yet */
	struct pair_causes asleep;	/* by the names of the call and of the waker */
	struct cpu_view cpus[CPULIST_MAX];
	const struct timeline_threads *threads; /* of a program; NULL: of an endpoint */
	struct thread_view *thread_views;	/* of its threads, in their order */
	int64_t tick, tick_ns;			/* the tick's name, and its period; 0: not known */
	int64_t refill; /* the name of the timer that grants control groups their quota again; -1: there is none */
	bool has_quota; /* the program used up that of its group meanwhile */
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
static unsigned cause_of_waking(struct builder *b, const struct cpu_view *cpu)
{
	char number[16];

	if (cpu->idle_state < 0 || cpu->idle_state >= STATES)
		return plain_cause(b, CAUSE_WAKE_UP);
	unsigned *known = &b->leaving[cpu->idle_state];

	if (*known == TIMELINE_NO_CAUSE) {
		snprintf(number, sizeof(number), "%lld", (long long)cpu->idle_state);
		*known = cause_table_of(b->causes, CAUSE_IDLE_EXIT, b->side, number);
	}
	return *known;
}

#define SLEEPS_MOST 4096 /* pairs of a call and a waker; further ones have no names, as they are searched one by one */

/* A program's thread sleeps in a call, or where it touched memory, until somebody wakes it. */
static unsigned cause_of_sleep(struct builder *b, const struct thread_view *s, int64_t waker)
{
	enum { FAULTED = -2 };
	const int64_t where = s->call < 0 && s->faulted_at != NOBODY ? FAULTED : s->call;
	const char *by = trace_file_name(b->file, waker);
	char text[CAUSE_NAME_MAX];

	for (size_t i = 0; i < b->asleep.count; i++)
		if (b->asleep.list[i].one == where && b->asleep.list[i].other == waker)
			return b->asleep.list[i].cause;
	if (b->asleep.count == SLEEPS_MOST)
		return cause_table_of(b->causes, CAUSE_ASLEEP, b->side, "a system call");
	snprintf(text, sizeof(text), "%.40s%s%.40s",
		 where == FAULTED ? "a page fault"
		 : where < 0	  ? "a system call"
				  : trace_file_name(b->file, where),
		 *by ? ", woken by " : "", by);
	b->asleep.list = grow_or_abort(b->asleep.list, b->asleep.count, sizeof(*b->asleep.list));
	b->asleep.list[b->asleep.count] =
	    (struct pair_cause){where, waker, cause_table_of(b->causes, CAUSE_ASLEEP, b->side, text)};
	return b->asleep.list[b->asleep.count++].cause;
}

/* What the thread waits for while it does not run; TIMELINE_NO_CAUSE: only for messages, or for what its waker will say. */
static unsigned cause_of_absence(struct builder *b, const struct thread_view *s, const struct cpu_view *cpu)
{
	switch (s->left) {
	case TRACE_STOPPED:
		return plain_cause(b, CAUSE_STOPPED);
	case TRACE_SLEPT:
		return b->sleeps || b->threads ? TIMELINE_NO_CAUSE : plain_cause(b, CAUSE_SLEPT);
	case TRACE_PREEMPTED:
		/* It could go on, nobody has the CPU, and nothing has to be woken. */
		if (b->threads && cpu->turn == TURN_IDLE)
			return plain_cause(b, CAUSE_THROTTLED);
		return cpu->turn == TURN_IDLE ? cause_of_waking(b, cpu) : cpu->other;
	case TRACE_WOKEN:
		return cpu->turn == TURN_IDLE ? cause_of_waking(b, cpu) : cpu->other;
	default:
		return TIMELINE_NO_CAUSE;
	}
}

static bool thread_view_runs(const struct builder *b, const struct thread_view *s, const struct cpu_view *cpu)
{
	return b->threads ? s->runs : cpu->turn == TURN_OWN;
}

/* The cause for what runs until the next event. */
static unsigned cause_now(struct builder *b, const struct thread_view *s, const struct cpu_view *cpu)
{
	if (thread_view_runs(b, s, cpu)) {
		if (cpu->depth)
			return cpu->stack[cpu->depth - 1].cause;
		return !b->threads    ? TIMELINE_NO_CAUSE
		       : s->call >= 0 ? named_cause(b, CAUSE_IN_CALL, s->call)
				      : plain_cause(b, CAUSE_RUNNING);
	}
	const unsigned absence = cause_of_absence(b, s, cpu);

	/* An interrupt during another task's turn is what delays the thread at that moment; while
	 * the thread sleeps, nothing delays it. */
	return cpu->depth && absence != TIMELINE_NO_CAUSE && s->left != TRACE_STOPPED && s->left != TRACE_SLEPT
		   ? cpu->stack[cpu->depth - 1].cause
		   : absence;
}

/* --- events --- */

static void push(struct cpu_view *cpu, enum trace_kind leave_context, unsigned cause)
{
	if (cpu->depth < NESTED)
		cpu->stack[cpu->depth++] = (struct context){leave_context, cause};
}

/* An end without a beginning belongs to a context that began before the trace; the ends of contexts
 * inside the ended one were not seen. */
static void pop(struct cpu_view *cpu, enum trace_kind leave)
{
	for (size_t i = cpu->depth; i > 0; i--)
		if (cpu->stack[i - 1].leave == (int)leave) {
			cpu->depth = i - 1;
			return;
		}
}

/* An event of a traced CPU. */
struct event {
	enum trace_kind kind;
	int64_t time, name, value;
	struct cpu_view *cpu;
	struct thread_view *thread; /* whose thread it is about, or whose CPU; NULL: nobody's */
};

/* What a kind of event does; the rows are in common/lateness.def. */
struct kind_rule {
	void (*take)(struct builder *b, const struct kind_rule *rule, const struct event *v); /* NULL: nothing */
	enum cause_class cause;
	enum trace_kind until; /* the kind that ends the context which this one begins */
	bool takes_value;      /* the event comes at the end of what took as long as its value says */
	bool is_of_thread;     /* it is about a thread, whose number is the value where there are several */
};

static void enter_context(struct builder *b, const struct kind_rule *rule, const struct event *v)
{
	push(v->cpu, rule->until, named_cause(b, rule->cause, v->name));
}

static void enter_irq(struct builder *b, const struct kind_rule *rule, const struct event *v)
{
	if (b->tick_ns && v->name == b->tick)
		v->cpu->due = v->time + b->tick_ns;
	const bool is_ipi = strstr(trace_file_name(b->file, v->name), "IPI");

	push(v->cpu, rule->until, named_cause(b, is_ipi ? CAUSE_IPI : rule->cause, v->name));
}

static void leave_context(struct builder *b, const struct kind_rule *rule, const struct event *v)
{
	(void)b, (void)rule;
	pop(v->cpu, v->kind);
}

/* A program's thread may sleep in its call, and go on with it elsewhere. */
static void enter_call(struct builder *b, const struct kind_rule *rule, const struct event *v)
{
	if (b->threads)
		v->thread->call = v->name;
	else
		enter_context(b, rule, v);
}

static void leave_call(struct builder *b, const struct kind_rule *rule, const struct event *v)
{
	if (b->threads)
		v->thread->call = -1;
	else
		leave_context(b, rule, v);
}

static void take_turn(const struct builder *b, const struct event *v, enum turn turn, unsigned other)
{
	struct cpu_view *cpu = v->cpu;

	if (cpu->turn == TURN_IDLE && b->tick_ns)
		cpu->due = v->time + b->tick_ns;
	cpu->due = turn == TURN_IDLE ? INT64_MAX : cpu->due;
	cpu->turn = turn;
	cpu->other = other;
	cpu->idle_state = -1;
	cpu->depth = 0; /* interrupts do not switch tasks */
}

static void give_to_other(struct builder *b, const struct kind_rule *rule, const struct event *v)
{
	take_turn(b, v, TURN_OTHER, named_cause(b, rule->cause, v->name));
}

static void thread_view_leave_cpu(struct thread_view *s)
{
	if (!s->before)
		return;
	*s->before = s->next;
	if (s->next)
		s->next->before = s->before;
	s->before = NULL;
}

static void thread_view_go_to(struct builder *b, struct thread_view *s, int64_t number)
{
	struct cpu_view *cpu = &b->cpus[number];

	thread_view_leave_cpu(s);
	s->cpu = number;
	s->next = cpu->there;
	s->before = &cpu->there;
	if (s->next)
		s->next->before = &s->next;
	cpu->there = s;
}

/* A task may change its name. */
static void thread_view_name(const struct builder *b, struct thread_view *s, int64_t name)
{
	if (name < 0 || !s->thread || name == s->name)
		return;
	s->name = name;
	snprintf(s->thread->name, sizeof(s->thread->name), "%s", trace_file_name(b->file, name));
}

static void give_to_own(struct builder *b, const struct kind_rule *rule, const struct event *v)
{
	(void)rule;
	take_turn(b, v, TURN_OWN, b->threads ? named_cause(b, CAUSE_TASK, v->name) : TIMELINE_NO_CAUSE);
	if (!b->threads)
		return;
	v->thread->runs = true;
	thread_view_name(b, v->thread, v->name);
}

/* A thread that could go on has been kept from its CPU since it left it, whoever had that meanwhile. */
static void throttle(struct builder *b, struct thread_view *s, int64_t until)
{
	struct timeline *t = s->out;

	if (s->runs || s->left != TRACE_PREEMPTED || s->left_at == NOBODY || until <= s->left_at)
		return;
	while (t->count && t->segments[t->count - 1].from >= s->left_at)
		t->count--;
	if (t->count && t->segments[t->count - 1].to > s->left_at)
		t->segments[t->count - 1].to = s->left_at;
	timeline_add(t, s->left_at, until, plain_cause(b, CAUSE_THROTTLED));
	s->now = until;
}

static void go_idle(struct builder *b, const struct kind_rule *rule, const struct event *v)
{
	(void)rule;
	take_turn(b, v, TURN_IDLE, TIMELINE_NO_CAUSE);
}

/* A quota that is used up lasts until this timer expires. */
static void enter_timer(struct builder *b, const struct kind_rule *rule, const struct event *v)
{
	(void)rule;
	if (!b->has_quota || v->name != b->refill)
		return;
	for (size_t i = 0; i < CPULIST_MAX; i++)
		for (struct thread_view *s = b->cpus[i].there; s; s = s->next)
			throttle(b, s, v->time);
}

static void change_idle_state(struct builder *b, const struct kind_rule *rule, const struct event *v)
{
	(void)b, (void)rule;
	v->cpu->idle_state = v->value;
}

/* The function of a work item is more informative than the kworker that runs it. */
static void enter_work(struct builder *b, const struct kind_rule *rule, const struct event *v)
{
	unsigned *known = v->cpu->turn == TURN_OTHER ? place_of_name(b, &b->works, v->name) : NULL;
	char text[CAUSE_NAME_MAX];

	if (!known)
		return;
	if (*known == TIMELINE_NO_CAUSE) {
		snprintf(text, sizeof(text), "kworker (%s)", trace_file_name(b->file, v->name));
		*known = cause_table_of(b->causes, rule->cause, b->side, text);
	}
	v->cpu->other = *known;
}

static void go_away(struct builder *b, const struct kind_rule *rule, const struct event *v)
{
	(void)rule;
	v->thread->left = v->kind;
	v->thread->left_at = v->time;
	v->thread->runs = false;
	thread_view_name(b, v->thread, v->name);
	if (v->kind != TRACE_PREEMPTED)
		thread_view_leave_cpu(v->thread);
}

/* Only now is it known who ends the sleep of a program's thread. */
static void wake_thread(struct builder *b, const struct event *v)
{
	struct thread_view *s = v->thread;
	struct timeline_thread *t = s->thread;
	const struct thread_view *own = v->cpu->depth ? NULL : v->cpu->there;

	while (own && !own->runs)
		own = own->next;
	if (s->left == TRACE_SLEPT)
		timeline_add(s->out, s->now, v->time,
			     cause_of_sleep(b, s, own && own->name >= 0 ? own->name : v->name));
	s->now = v->time;
	thread_view_go_to(b, s, s->cpu == NO_CPU ? v->cpu - b->cpus : s->cpu);
	t->wakes = grow_or_abort(t->wakes, t->wake_count, sizeof(*t->wakes));
	t->wakes[t->wake_count++] = (struct timeline_wake){v->time, own ? own->thread : NULL};
}

static void wake(struct builder *b, const struct kind_rule *rule, const struct event *v)
{
	(void)rule;
	if (v->thread->left != TRACE_SLEPT && v->thread->left != TRACE_STOPPED)
		return;
	if (b->threads)
		wake_thread(b, v);
	v->thread->left = v->kind;
}

/* A thread that waits for a CPU is to wait for another one. */
static void move_thread(struct builder *b, const struct kind_rule *rule, const struct event *v)
{
	(void)rule;
	if (v->thread->before)
		thread_view_go_to(b, v->thread, v->cpu - b->cpus);
	else
		v->thread->cpu = v->cpu - b->cpus;
}

/* At a single moment, without beginning and end. */
static void mark(struct builder *b, const struct kind_rule *rule, const struct event *v)
{
	timeline_gaps_note(&b->gaps.marks, v->time, v->time, plain_cause(b, rule->cause));
}

static void mark_own(struct builder *b, const struct kind_rule *rule, const struct event *v)
{
	if (b->threads)
		v->thread->faulted_at = v->time;
	else if (v->cpu->turn == TURN_OWN)
		mark(b, rule, v);
}

static void see_gap(struct builder *b, const struct kind_rule *rule, const struct event *v)
{
	if (b->sleeps || b->threads)
		return;
	if (v->value > 0)
		timeline_gaps_note(&b->gaps.seen, v->time - v->value, v->time, TIMELINE_NO_CAUSE);
	/* A thread that polls has the CPU: some kernels do not trace every switch to it. */
	if (v->cpu->turn != TURN_OWN)
		give_to_own(b, rule, v);
}

static const struct kind_rule rules[TRACE_KINDS] = {
#define KIND(id, key, help, ...) [TRACE_##id] = {__VA_ARGS__},
#include "common/lateness.def"
};

/* A page fault that does not sleep ends before the thread's next event. */
static void pass_fault(struct builder *b, struct thread_view *s, int64_t until)
{
	const int64_t most = s->faulted_at + FAULT_MOST_NS, end = until < most ? until : most;

	if (s->faulted_at == NOBODY || !s->runs)
		return;
	if (!b->cpus[s->cpu].depth && end > s->now) {
		timeline_add(s->out, s->now, end, plain_cause(b, CAUSE_FAULT));
		s->now = end;
	}
}

/* Record what has happened to it since its last event. */
static void pass_time(struct builder *b, struct thread_view *s, int64_t until)
{
	if (s->cpu != NO_CPU)
		pass_fault(b, s, until);

	const unsigned cause = s->cpu == NO_CPU ? TIMELINE_NO_CAUSE : cause_now(b, s, &b->cpus[s->cpu]);

	/* The sleep of a program's thread is recorded when its end is known. */
	if (b->threads && s->left == TRACE_SLEPT && !s->runs)
		return;
	if (cause != TIMELINE_NO_CAUSE)
		timeline_add(s->out, s->now, until, cause);
	if (until > s->now)
		s->now = until;
}

/* -1: unknown kind. */
static int timeline_kind(const struct trace_file *f, const int64_t *word)
{
	const int64_t number = word[TRACE_KIND];

	return number >= 0 && number < TRACE_FILE_KINDS ? f->kind[number] : -1;
}

static bool has_view(const int64_t *word)
{
	return word[TRACE_CPU] >= 0 && word[TRACE_CPU] < CPULIST_MAX;
}

static struct event event_of(struct builder *b, const int64_t *word, int kind, struct thread_view *s)
{
	return (struct event){(enum trace_kind)kind, word[TRACE_TIME],		word[TRACE_NAME],
			      word[TRACE_VALUE],     &b->cpus[word[TRACE_CPU]], s};
}

/* An event that says at its end how long it took. */
static void pass_value(struct builder *b, struct thread_view *s, const struct kind_rule *rule, const int64_t *word)
{
	const int64_t time = word[TRACE_TIME];

	if (!rule->takes_value || word[TRACE_VALUE] <= 0 || word[TRACE_VALUE] >= time - s->now)
		return;
	pass_time(b, s, time - word[TRACE_VALUE]);
	timeline_add(s->out, s->now, time, named_cause(b, rule->cause, word[TRACE_NAME]));
	s->now = time;
}

/* --- an endpoint --- */

static void timeline_take(struct builder *b, struct thread_view *s, const int64_t *word)
{
	const int64_t time = word[TRACE_TIME];
	const int kind = timeline_kind(b->file, word);
	const struct kind_rule *rule;

	if (kind < 0 || !has_view(word))
		return;
	if (kind == TRACE_OWN && word[TRACE_CPU] != s->cpu) {
		/* It has moved to another CPU, so waiting for the old one is over. */
		pass_time(b, s, time);
		s->now = time;
		s->cpu = word[TRACE_CPU];
	}
	if (s->cpu == NO_CPU || (kind != TRACE_WOKEN && word[TRACE_CPU] != s->cpu))
		return;
	rule = &rules[kind];
	pass_value(b, s, rule, word);
	pass_time(b, s, time);
	if (rule->take) {
		const struct event v = event_of(b, word, kind, s);

		rule->take(b, rule, &v);
	}
}

/* --- a program's threads --- */

static struct thread_view *thread_view_find(struct builder *b, int64_t tid)
{
	const struct timeline_thread *thread = timeline_thread_find(b->threads, tid);

	return thread ? &b->thread_views[thread - b->threads->list] : NULL;
}

/* A CPU that is not idle, and to which nothing came when the tick was due: all that was there was kept from going on. */
static void pass_stolen(struct builder *b, struct cpu_view *cpu, int64_t until)
{
	const int64_t since = cpu->due > cpu->seen ? cpu->due : cpu->seen;

	cpu->seen = until;
	if (!cpu->ticks || cpu->due == INT64_MAX || until - since < b->tick_ns / 4)
		return;
	for (struct thread_view *s = cpu->there; s; s = s->next) {
		pass_time(b, s, since);
		if (s->runs || s->left == TRACE_PREEMPTED || s->left == TRACE_WOKEN)
			timeline_add(s->out, s->now, until, plain_cause(b, CAUSE_BELOW));
		s->now = until;
	}
}

static void pass_cpu(struct builder *b, struct cpu_view *cpu, const struct kind_rule *rule, const int64_t *word)
{
	for (struct thread_view *s = cpu->there; s; s = s->next) {
		pass_value(b, s, rule, word);
		pass_time(b, s, word[TRACE_TIME]);
	}
}

static void pass_thread(struct builder *b, struct thread_view *s, int kind, const int64_t *word)
{
	const int64_t time = word[TRACE_TIME];

	s->now = s->now == INT64_MIN ? time : s->now; /* what it did before is not known */
	pass_time(b, s, time);
	s->faulted_at = kind == TRACE_SLEPT || kind == TRACE_WOKEN ? s->faulted_at : NOBODY;
	if (kind == TRACE_OWN) {
		s->now = time > s->now ? time : s->now;
		thread_view_go_to(b, s, word[TRACE_CPU]);
	}
	/* Some kernels do not trace every switch to it. */
	if (!s->runs && (kind == TRACE_CALL_ENTER || kind == TRACE_CALL_EXIT || kind == TRACE_FAULT)) {
		const struct event v = event_of(b, word, kind, s);

		thread_view_go_to(b, s, word[TRACE_CPU]);
		take_turn(b, &v, TURN_OWN, cause_table_of(b->causes, CAUSE_TASK, b->side, s->thread->name));
		s->runs = true;
	}
}

static void thread_take(struct builder *b, const int64_t *word)
{
	const int kind = timeline_kind(b->file, word);
	const struct kind_rule *rule = kind < 0 ? NULL : &rules[kind];
	struct thread_view *s;
	struct event v;

	if (!rule || !has_view(word))
		return;
	s = rule->is_of_thread ? thread_view_find(b, word[TRACE_VALUE]) : NULL;
	v = event_of(b, word, kind, s);
	pass_stolen(b, &b->cpus[word[TRACE_CPU]], word[TRACE_TIME]);
	if (!rule->is_of_thread || kind == TRACE_OWN)
		pass_cpu(b, v.cpu, rule, word);
	if (s)
		pass_thread(b, s, kind, word);
	if (rule->take && (s || !rule->is_of_thread))
		rule->take(b, rule, &v);
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

static int64_t known_until(const struct trace_file *f, bool is_by_thread)
{
	int64_t least = INT64_MAX;
	const char *cpu;
	json_t *time;

	json_object_foreach (json_object_get(f->about, "known_until_ns"), cpu, time)
		if (json_integer_value(time) < least)
			least = json_integer_value(time);
	if (*trace_file_why(f))
		return INT64_MIN;
	return least < INT64_MAX || is_by_thread ? least : timeline_gone_since(f);
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

static struct builder *builder_new(const struct trace_file *f, unsigned side, struct cause_table *causes)
{
	struct builder *b = or_abort(calloc(1, sizeof(*b)));

	b->file = f;
	b->causes = causes;
	b->side = side;
	b->gaps = (struct timeline_gaps){.causes = causes, .side = side};
	memset(b->plain, 0xff, sizeof(b->plain));
	memset(b->leaving, 0xff, sizeof(b->leaving));
	for (size_t i = 0; i < CPULIST_MAX; i++)
		b->cpus[i] = (struct cpu_view){
		    .turn = TURN_IDLE, .other = TIMELINE_NO_CAUSE, .idle_state = -1, .due = INT64_MAX};
	b->tick = b->refill = -1;
	return b;
}

static void builder_free(struct builder *b)
{
	timeline_gaps_free(&b->gaps);
	for (size_t i = 0; i < CAUSE_CLASSES; i++)
		free(b->named[i]);
	free(b->works);
	free(b->asleep.list);
	free(b->thread_views);
	free(b);
}

static struct thread_view thread_view_of(struct timeline *out)
{
	return (struct thread_view){.out = out,
				    .tid = NOBODY,
				    .cpu = NO_CPU,
				    .now = INT64_MIN,
				    .left = TRACE_SLEPT,
				    .left_at = NOBODY,
				    .name = -1,
				    .call = -1,
				    .faulted_at = NOBODY};
}

void timeline_build(const struct trace_file *f, unsigned side, bool sleeps, struct cause_table *causes,
		    struct timeline *out)
{
	struct builder *b = builder_new(f, side, causes);
	struct thread_view s = thread_view_of(out);

	b->sleeps = sleeps;
	*out = (struct timeline){.known_until = known_until(f, false), .gaps_until = timeline_gaps_until(f)};
	for (size_t i = 0; i < f->events; i++) {
		const int64_t *word = f->words + i * TRACE_WORDS;

		/* Events were lost: from then on it is unknown who has the CPU. */
		if (word[TRACE_TIME] > out->known_until) {
			pass_time(b, &s, out->known_until);
			break;
		}
		timeline_take(b, &s, word);
	}
	out->cpu = s.cpu;
	timeline_gaps_fill(&b->gaps, out);
	builder_free(b);
}

static int by_number(const void *a, const void *b)
{
	const int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;

	return (one > other) - (one < other);
}

/* Its turns, and its leaving: some kernels do not trace every switch to it. */
static bool names_thread(int kind)
{
	return kind == TRACE_OWN || kind == TRACE_SLEPT || kind == TRACE_PREEMPTED;
}

/* --- the periodic tick --- */

static int64_t find_name(const struct trace_file *f, const char *text)
{
	for (size_t i = 0; i < f->names; i++)
		if (!strcmp(trace_file_name(f, (int64_t)i), text))
			return (int64_t)i;
	return -1;
}

/* How often the tick came as long after the one before as its period says, and how often later, on a CPU. */
struct tick_counts {
	int64_t last; /* NOBODY: the CPU has been idle since */
	size_t at[4], after[4];
};

static const int64_t tick_periods[] = {1000000, 3333333, 4000000, 10000000}; /* CONFIG_HZ: 1000, 300, 250, 100 */

#define PERIODS	    (sizeof(tick_periods) / sizeof(tick_periods[0]))
#define TICKS_LEAST 20

static void count_tick(struct tick_counts *c, int64_t time)
{
	for (size_t i = 0; c->last != NOBODY && i < PERIODS; i++) {
		const int64_t late = time - c->last - tick_periods[i];

		c->at[i] += late > -tick_periods[i] / 50 && late < tick_periods[i] / 50;
		c->after[i] += late >= tick_periods[i] / 4;
	}
	c->last = time;
}

static void decide_tick(struct builder *b, const struct tick_counts *counts)
{
	size_t at[PERIODS] = {0}, best = 0;

	for (size_t i = 0; i < PERIODS; i++) {
		for (size_t cpu = 0; cpu < CPULIST_MAX; cpu++)
			at[i] += counts[cpu].at[i];
		best = at[i] > at[best] ? i : best;
	}
	if (at[best] < TICKS_LEAST)
		return;
	b->tick_ns = tick_periods[best];
	/* To a CPU with nohz_full it comes seldom. */
	for (size_t cpu = 0; cpu < CPULIST_MAX; cpu++)
		b->cpus[cpu].ticks = counts[cpu].at[best] > 4 * counts[cpu].after[best];
}

/* A CPU that is busy and gets no tick was not running: below the kernel, something else was. */
static void learn_tick(struct builder *b)
{
	struct tick_counts *counts = or_abort(calloc(CPULIST_MAX, sizeof(*counts)));

	b->tick = find_name(b->file, "local timer");
	for (size_t cpu = 0; cpu < CPULIST_MAX; cpu++)
		counts[cpu].last = NOBODY;
	for (size_t i = 0; b->tick >= 0 && i < b->file->events; i++) {
		const int64_t *word = b->file->words + i * TRACE_WORDS;
		const int kind = timeline_kind(b->file, word);

		if (!has_view(word))
			continue;
		if (kind == TRACE_IRQ_ENTER && word[TRACE_NAME] == b->tick)
			count_tick(&counts[word[TRACE_CPU]], word[TRACE_TIME]);
		else if (kind == TRACE_IDLE)
			counts[word[TRACE_CPU]].last = NOBODY;
	}
	decide_tick(b, counts);
	free(counts);
}

/* --- all threads --- */

#define THREADS_MOST 65536 /* what further ones did is not known */

/* The threads that the events name. */
static struct timeline_threads find_threads(const struct trace_file *f)
{
	struct timeline_threads found = {.list = NULL};
	int64_t *tids = NULL;
	size_t count = 0;

	for (size_t i = 0; i < f->events; i++)
		if (names_thread(timeline_kind(f, f->words + i * TRACE_WORDS))) {
			tids = grow_or_abort(tids, count, sizeof(*tids));
			tids[count++] = f->words[i * TRACE_WORDS + TRACE_VALUE];
		}
	if (count)
		qsort(tids, count, sizeof(*tids), by_number);
	found.list = or_abort(calloc(count + 1, sizeof(*found.list)));
	for (size_t i = 0; i < count; i++)
		if ((!i || tids[i] != tids[i - 1]) && found.count < THREADS_MOST)
			found.list[found.count++] = (struct timeline_thread){.tid = tids[i]};
	free(tids);
	return found;
}

void timeline_build_threads(const struct trace_file *f, struct cause_table *causes, struct timeline_threads *out)
{
	struct builder *b = builder_new(f, CAUSE_NO_SIDE, causes);
	const int64_t until = known_until(f, true);

	*out = find_threads(f);
	out->known_until = until;
	b->threads = out;
	b->refill = find_name(f, "sched_cfs_period_timer");
	b->has_quota = json_integer_value(json_object_get(f->about, "throttled")) > 0;
	learn_tick(b);
	b->thread_views = or_abort(calloc(out->count + 1, sizeof(*b->thread_views)));
	for (size_t i = 0; i < out->count; i++) {
		struct timeline_thread *t = &out->list[i];

		t->line = (struct timeline){.cpu = NO_CPU, .known_until = until, .gaps_until = INT64_MAX};
		b->thread_views[i] = thread_view_of(&t->line);
		b->thread_views[i].tid = t->tid;
		b->thread_views[i].thread = t;
	}
	for (size_t i = 0; i < f->events && f->words[i * TRACE_WORDS + TRACE_TIME] <= until; i++)
		thread_take(b, f->words + i * TRACE_WORDS);
	builder_free(b);
}
