#include "analysis/timeline_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/timeline_gaps.h"
#include "common/or_abort.h"

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

static void push(struct builder *b, enum trace_kind leave, unsigned cause)
{
	if (b->depth < NESTED)
		b->stack[b->depth++] = (struct context){leave, cause};
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

static void enter_irq(struct builder *b, int64_t name)
{
	const char *text = trace_file_name(b->file, name);

	push(b, TRACE_IRQ_EXIT, named_cause(b, strstr(text, "IPI") ? CAUSE_IPI : CAUSE_INTERRUPT, name));
}

static void take_turn(struct builder *b, enum turn turn, unsigned other)
{
	b->turn = turn;
	b->other = other;
	b->idle_state = -1;
	b->depth = 0; /* interrupts do not switch tasks */
}

/* The function of a work item is more informative than the kworker that runs it. */
static void enter_work(struct builder *b, int64_t name)
{
	unsigned *known = b->turn == TURN_OTHER ? place_of_name(b, &b->works, name) : NULL;
	char text[CAUSE_NAME_MAX];

	if (!known)
		return;
	if (*known == TIMELINE_NO_CAUSE) {
		snprintf(text, sizeof(text), "kworker (%s)", trace_file_name(b->file, name));
		*known = cause_table_of(b->causes, CAUSE_KERNEL_THREAD, b->side, text);
	}
	b->other = *known;
}

static void apply(struct builder *b, enum trace_kind kind, int64_t name, int64_t value)
{
	switch (kind) {
	case TRACE_IRQ_ENTER:
		enter_irq(b, name);
		break;
	case TRACE_SOFTIRQ_ENTER:
		push(b, TRACE_SOFTIRQ_EXIT, named_cause(b, CAUSE_SOFTIRQ, name));
		break;
	case TRACE_CALL_ENTER:
		push(b, TRACE_CALL_EXIT, named_cause(b, CAUSE_CALL, name));
		break;
	case TRACE_IRQ_EXIT:
	case TRACE_SOFTIRQ_EXIT:
	case TRACE_CALL_EXIT:
		pop(b, kind);
		break;
	case TRACE_TASK:
		take_turn(b, TURN_OTHER, named_cause(b, CAUSE_TASK, name));
		break;
	case TRACE_KERNEL_THREAD:
		take_turn(b, TURN_OTHER, named_cause(b, CAUSE_KERNEL_THREAD, name));
		break;
	case TRACE_IDLE:
		take_turn(b, TURN_IDLE, TIMELINE_NO_CAUSE);
		break;
	case TRACE_IDLE_STATE:
		b->idle_state = value;
		break;
	case TRACE_OWN:
		take_turn(b, TURN_OWN, TIMELINE_NO_CAUSE);
		break;
	case TRACE_GAP:
		/* A thread that polls has the CPU: some kernels do not trace every switch to it. */
		if (b->turn != TURN_OWN && !b->sleeps)
			take_turn(b, TURN_OWN, TIMELINE_NO_CAUSE);
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

/* Events at a single moment, without beginning and end. */
static void note_event(struct builder *b, enum trace_kind kind, int64_t time, int64_t value)
{
	if (kind == TRACE_FAULT && b->turn == TURN_OWN)
		timeline_gaps_note(&b->gaps.marks, time, time, plain_cause(b, CAUSE_FAULT));
	else if (kind == TRACE_MACHINE_CHECK)
		timeline_gaps_note(&b->gaps.marks, time, time, plain_cause(b, CAUSE_MACHINE_CHECK));
	else if (kind == TRACE_FREQUENCY)
		timeline_gaps_note(&b->gaps.marks, time, time, plain_cause(b, CAUSE_FREQUENCY));
	else if (kind == TRACE_GAP && value > 0 && !b->sleeps)
		timeline_gaps_note(&b->gaps.seen, time - value, time, TIMELINE_NO_CAUSE);
}

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
	if (kind == TRACE_NMI && word[TRACE_VALUE] > 0 && word[TRACE_VALUE] < time - b->now) {
		pass_time(b, time - word[TRACE_VALUE]);
		timeline_add(b->out, b->now, time, named_cause(b, CAUSE_NMI, word[TRACE_NAME]));
		b->now = time;
	}
	pass_time(b, time);
	note_event(b, (enum trace_kind)kind, time, word[TRACE_VALUE]);
	apply(b, (enum trace_kind)kind, word[TRACE_NAME], word[TRACE_VALUE]);
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
