/*
 * Who held a message up: made-up events and stamps, whose causes are known.
 */
#include "common/npy.h"
#include "judge/analysis/explained.h"
#include "judge/analysis/timeline_build.h"
#include "tap.h"

static int64_t words[4096 * TRACE_WORDS];
static size_t event_count;
static json_t *about;

static void begin_events(void)
{
	event_count = 0;
	json_decref(about);
	about = json_pack("{s:s, s:{}, s:[]}", "why", "", "known_until_ns", "names");
}

static int64_t name_of(const char *text)
{
	json_t *names = json_object_get(about, "names");

	if (!text)
		return -1;
	for (size_t i = 0; i < json_array_size(names); i++)
		if (!strcmp(json_string_value(json_array_get(names, i)), text))
			return (int64_t)i;
	json_array_append_new(names, json_string(text));
	return (int64_t)json_array_size(names) - 1;
}

static void event_on(int64_t cpu, int64_t time, enum trace_kind kind, const char *name, int64_t value)
{
	int64_t *word = words + event_count++ * TRACE_WORDS;

	word[TRACE_TIME] = time;
	word[TRACE_CPU] = cpu;
	word[TRACE_KIND] = kind;
	word[TRACE_NAME] = name_of(name);
	word[TRACE_VALUE] = value;
}

static void event(int64_t time, enum trace_kind kind, const char *name)
{
	event_on(1, time, kind, name, 0);
}

/* From then on the endpoint's thread has the CPU. */
static void begin_at(int64_t time)
{
	begin_events();
	event(time, TRACE_OWN, NULL);
}

static void interrupted(int64_t from, int64_t to, const char *name)
{
	event(from, TRACE_IRQ_ENTER, name);
	event(to, TRACE_IRQ_EXIT, NULL);
}

/* Another task takes the CPU. */
static void taken(int64_t time, const char *task)
{
	event(time, TRACE_PREEMPTED, NULL);
	event(time, TRACE_TASK, task);
}

/* The thread leaves the CPU, and nobody takes it. */
static void idle(int64_t time, enum trace_kind how)
{
	event(time, how, NULL);
	event(time, TRACE_IDLE, NULL);
}

static void gap(int64_t from, int64_t to)
{
	event_on(1, to, TRACE_GAP, NULL, to - from);
}

/* The sink's timeline of the events so far, as "FROM-TO TEXT; …". */
static void timeline_text(bool sleeps, char *text, size_t size)
{
	struct trace_file f = trace_file_of_events(about, words, event_count);
	struct cause_table causes = {.list = NULL};
	struct timeline t;
	char cause[192];

	timeline_build(&f, 1, sleeps, &causes, &t);
	*text = '\0';
	for (size_t i = 0; i < t.count; i++)
		snprintf(text + strlen(text), size - strlen(text), "%s%lld-%lld %s", i ? "; " : "",
			 (long long)t.segments[i].from, (long long)t.segments[i].to,
			 cause_describe(&causes.list[t.segments[i].cause], cause, sizeof(cause)));
	timeline_free(&t);
	cause_table_free(&causes);
}

#define TIMELINE_IS(sleeps, want, ...)                                                                                 \
	do {                                                                                                           \
		char text[2048];                                                                                       \
		timeline_text(sleeps, text, sizeof(text));                                                             \
		is_str(text, want, __VA_ARGS__);                                                                       \
	} while (0)

/* --- timelines --- */

static void test_nesting(void)
{
	begin_events();
	event(50, TRACE_IRQ_ENTER, "local timer"); /* before the thread has the CPU: nobody's */
	event(60, TRACE_IRQ_EXIT, NULL);
	event(100, TRACE_OWN, NULL);
	event(1000, TRACE_SOFTIRQ_ENTER, "NET_RX");
	interrupted(1200, 1500, "local timer");
	event(2000, TRACE_SOFTIRQ_EXIT, "NET_RX");
	event(2500, TRACE_IRQ_EXIT, NULL); /* of one that nobody saw begin */
	TIMELINE_IS(false,
		    "1000-1200 softirq NET_RX on the sink's CPU; 1200-1500 local timer interrupt on the sink's CPU; "
		    "1500-2000 softirq NET_RX on the sink's CPU",
		    "an interrupt inside a softirq has its own time, and the softirq the rest");

	begin_at(100);
	event_on(1, 900, TRACE_NMI, "perf_event_nmi_handler", 300);
	interrupted(1000, 1100, "reschedule IPI");
	event_on(0, 1150, TRACE_IRQ_ENTER, "local timer", 0);
	TIMELINE_IS(
	    false,
	    "600-900 non-maskable interrupt perf_event_nmi_handler on the sink's CPU; 1000-1100 reschedule IPI on the "
	    "sink's CPU",
	    "a handler that tells its length has that; another CPU's events are not this one's");
}

static void test_turns(void)
{
	begin_at(100);
	event(1000, TRACE_PREEMPTED, NULL);
	event(1000, TRACE_KERNEL_THREAD, "kworker");
	event(1100, TRACE_WORK_ENTER, "vmstat_update");
	event(1900, TRACE_TASK, "cc1");
	interrupted(2500, 2600, "local timer");
	event(3000, TRACE_OWN, NULL);
	TIMELINE_IS(
	    false,
	    "1000-1100 preempted by kworker on the sink's CPU; 1100-1900 preempted by kworker (vmstat_update) on the "
	    "sink's CPU; 1900-2500 preempted by cc1 on the sink's CPU; 2500-2600 local timer interrupt on the sink's "
	    "CPU; 2600-3000 preempted by cc1 on the sink's CPU",
	    "who came instead, one after the other, and what for");

	begin_at(100);
	idle(1000, TRACE_STOPPED);
	event(5000, TRACE_WOKEN, NULL);
	event(5300, TRACE_OWN, NULL);
	TIMELINE_IS(
	    false, "1000-5000 stopped by a signal on the sink's CPU; 5000-5300 idle exit and wake-up on the sink's CPU",
	    "a thread that was stopped, and then had to come back");

	begin_at(100);
	idle(1000, TRACE_SLEPT);
	event_on(0, 5000, TRACE_WOKEN, NULL, 0);
	event(5300, TRACE_TASK, "cc1");
	event(5900, TRACE_OWN, NULL);
	TIMELINE_IS(true,
		    "5000-5300 idle exit and wake-up on the sink's CPU; 5300-5900 preempted by cc1 on the sink's CPU",
		    "sleeping is no delay where one waits so; from the wake-up on it is, wherever that came from");
	TIMELINE_IS(
	    false,
	    "1000-5000 asleep in a system call or waiting for a lock on the sink's CPU; 5000-5300 idle exit and "
	    "wake-up on the sink's CPU; 5300-5900 preempted by cc1 on the sink's CPU",
	    "but it is one where one polls");

	begin_at(100);
	idle(1000, TRACE_SLEPT);
	event_on(1, 1100, TRACE_IDLE_STATE, NULL, 2);
	event_on(0, 5000, TRACE_WOKEN, NULL, 0);
	event_on(1, 5250, TRACE_IDLE_STATE, NULL, -1);
	event(5300, TRACE_OWN, NULL);
	TIMELINE_IS(
	    true, "5000-5250 leaving idle state 2 on the sink's CPU; 5250-5300 idle exit and wake-up on the sink's CPU",
	    "where the kernel says which idle state it leaves, that has its own time");

	begin_at(100);
	event(1000, TRACE_CALL_ENTER, "madvise");
	interrupted(1200, 1300, "local timer");
	event(1500, TRACE_CALL_EXIT, NULL);
	TIMELINE_IS(false,
		    "1000-1200 the endpoint's own system call madvise on the sink's CPU; 1200-1300 local timer "
		    "interrupt on the "
		    "sink's CPU; 1300-1500 the endpoint's own system call madvise on the sink's CPU",
		    "a system call of the loop's own");

	begin_at(100);
	taken(1000, "cc1");
	event_on(3, 2000, TRACE_OWN, NULL, 0);
	event(2500, TRACE_TASK, "ld");
	event_on(3, 3000, TRACE_IRQ_ENTER, "eth0 (IRQ 24)", 0);
	event_on(3, 3100, TRACE_IRQ_EXIT, NULL, 0);
	TIMELINE_IS(false,
		    "1000-2000 preempted by cc1 on the sink's CPU; 3000-3100 eth0 (IRQ 24) interrupt on the sink's CPU",
		    "a thread that moves takes its timeline with it");
}

static void test_lost(void)
{
	begin_at(100);
	json_object_set_new(json_object_get(about, "known_until_ns"), "1", json_integer(1500));
	taken(1000, "cc1");
	gap(8000, 9000);
	TIMELINE_IS(false, "1000-1500 preempted by cc1 on the sink's CPU",
		    "from where events were lost on nobody is held to have the CPU");

	begin_at(100);
	interrupted(500, 600, "local timer");
	taken(1000, "migration");
	event(2000, TRACE_IDLE, NULL);
	gap(8000, 9000);
	TIMELINE_IS(false, "500-600 local timer interrupt on the sink's CPU",
		    "a thread whose CPU was taken away is held up by nobody there");
}

static void test_gaps(void)
{
	begin_at(100);
	interrupted(10200, 13200, "local timer");
	gap(10000, 13600);
	TIMELINE_IS(false, "10000-13600 local timer interrupt on the sink's CPU",
		    "what an interrupt takes before and after its events is the interrupt's");

	begin_at(100);
	gap(10000, 60000);
	TIMELINE_IS(false, "10000-60000 below the kernel (firmware or hypervisor) on the sink's CPU",
		    "a gap that the kernel knows nothing of is below it");

	begin_at(100);
	interrupted(300000, 303000, "local timer");
	gap(10000, 303500);
	TIMELINE_IS(
	    false,
	    "10000-300000 below the kernel (firmware or hypervisor) on the sink's CPU; 300000-303000 local timer "
	    "interrupt on the sink's CPU; 303000-303500 below the kernel (firmware or hypervisor) on the sink's CPU",
	    "a timer that fires when the CPU comes back is not why it was away");

	begin_at(100);
	event(10100, TRACE_FAULT, NULL);
	gap(10000, 12000);
	TIMELINE_IS(false, "10000-12000 page fault on the sink's CPU", "a fault is as long as the gap that it is in");
	TIMELINE_IS(true, "", "who sleeps sees no gaps");

	begin_at(100);
	taken(10000, "cc1");
	event(11000, TRACE_FAULT, NULL);
	event(12000, TRACE_OWN, NULL);
	gap(9900, 12100);
	TIMELINE_IS(false, "9900-12100 preempted by cc1 on the sink's CPU", "another task's fault is its own");

	begin_at(100);
	taken(10000, "cc1");
	gap(9900, 12100);
	interrupted(20000, 21000, "local timer");
	idle(30000, TRACE_SLEPT);
	TIMELINE_IS(
	    false, "9900-12100 preempted by cc1 on the sink's CPU; 20000-21000 local timer interrupt on the sink's CPU",
	    "a thread that polls again has its CPU back, whether the kernel says so or not");
}

/* --- messages --- */

enum { MESSAGES = 400 };

struct case_of {
	int64_t sent[MESSAGES], came[MESSAGES];
	struct timeline side[2];
	bool has[2];
	struct critical_path path;
	struct cause_table causes;
	struct attribution found;
};

/* Messages every 10 us, each of 1 us. */
static void begin_case(struct case_of *c)
{
	memset(c, 0, sizeof(*c));
	for (int i = 0; i < MESSAGES; i++) {
		c->sent[i] = i * 10000;
		c->came[i] = i * 10000 + 1000;
	}
	begin_at(-1000);
}

static void take_side(struct case_of *c, unsigned side)
{
	struct trace_file f = trace_file_of_events(about, words, event_count);

	timeline_build(&f, side, false, &c->causes, &c->side[side]);
	c->has[side] = true;
	begin_at(-1000);
}

static void attribute(struct case_of *c)
{
	const struct attribution_input in = {
	    .span = {c->came, c->sent, MESSAGES},
	    .divide = 1,
	    .limit = 5000,
	    .median = 1000,
	    .side = {c->has[0] ? &c->side[0] : NULL, c->has[1] ? &c->side[1] : NULL},
	    .path = c->path,
	};

	attribution_add(&in, &c->causes, &c->found);
}

static const char *verdict(const struct case_of *c, size_t i)
{
	static char text[192];

	return i < c->found.count ? cause_describe(&c->causes.list[c->found.late[i].cause], text, sizeof(text))
				  : "(none)";
}

static void end_case(struct case_of *c)
{
	timeline_free(&c->side[0]);
	timeline_free(&c->side[1]);
	cause_table_free(&c->causes);
	attribution_free(&c->found);
}

static void test_messages(void)
{
	struct case_of c;

	begin_case(&c);
	take_side(&c, 0);
	taken(100500, "stress");
	interrupted(104000, 105000, "local timer");
	event(107000, TRACE_OWN, NULL);
	interrupted(202000, 203000, "local timer");
	take_side(&c, 1);
	c.came[10] = 107500;
	c.came[20] = 208000;
	c.came[30] = NEVER;
	attribute(&c);
	is_int((long long)c.found.count, 2, "two are late, and one that never came is not");
	is_str(verdict(&c, 0), "preempted by stress on the sink's CPU", "the cause that had most of its time");
	is_int(c.found.late[0].excess, 6500, "its excess is over the median");
	is_int(c.found.late[0].covered, 6500, "all of it is covered");
	is_int(c.found.late[0].time, 5500, "the interrupt's time is not the task's");
	is_str(verdict(&c, 1), "unexplained", "a microsecond of a timer does not explain seven");
	is_int(c.found.late[1].covered, 1000, "and covers one");
	end_case(&c);

	begin_case(&c);
	interrupted(100000, 103000, "local timer");
	take_side(&c, 0);
	interrupted(101000, 103000, "eth0 (IRQ 24)");
	take_side(&c, 1);
	c.came[10] = 107900;
	attribute(&c);
	is_str(verdict(&c, 0), "unexplained", "what both CPUs spend at once delays once: 3 of 6.9 us");
	is_int(c.found.late[0].covered, 3000, "3 us");
	end_case(&c);
}

static const struct critical_path one_way = {2, {0, 1}, 500}, round_trip = {3, {0, 1, 0}, 300};

static void test_path(void)
{
	struct case_of c;

	begin_case(&c);
	taken(100900, "busy");
	event(109000, TRACE_OWN, NULL);
	take_side(&c, 0);
	idle(99000, TRACE_STOPPED);
	event(107000, TRACE_WOKEN, NULL);
	event(107000, TRACE_OWN, NULL);
	take_side(&c, 1);
	c.came[10] = 109500;
	attribute(&c);
	is_str(verdict(&c, 0), "preempted by busy on the source's CPU", "of an unknown path, whoever had most time");
	c.found.count = 0;
	c.path = round_trip;
	attribute(&c);
	is_str(verdict(&c, 0), "stopped by a signal on the sink's CPU",
	       "the source's CPU does not matter before the answer is there");
	is_int(c.found.late[0].time, 7000, "the sink had the message until it went on");
	c.found.count = 0;
	c.path = one_way;
	c.came[10] = 107500;
	attribute(&c);
	is_str(verdict(&c, 0), "stopped by a signal on the sink's CPU", "nor, one way, once the message is on its way");
	end_case(&c);
}

/* One late message: what took the source's CPU (a task) and the sink's (an interrupt) from when until when. */
static const struct {
	const char *title;
	int64_t task[2], irq[2];
	unsigned irq_side;
	const struct critical_path *path;
	int64_t came;
	const char *verdict;
	int64_t covered, time; /* 0: not compared */
} path_cases[] = {
    {"one way, before the message is sent only the source's CPU delays it",
     {100100, 105000},
     {100900, 105200},
     1,
     &one_way,
     106500,
     "preempted by busy on the source's CPU",
     .covered = 5100},
    {"a round trip's message is at the sink even if it comes there later than most",
     {101000, 105900},
     {100900, 106000},
     1,
     &round_trip,
     107000,
     "local timer interrupt on the sink's CPU",
     .time = 5100},
    {"a sink that is away until after the answer has come did not have the message meanwhile",
     {100500, 106000},
     {100400, 109000},
     1,
     &round_trip,
     106500,
     "preempted by busy on the source's CPU"},
    {"where the path does not explain it, all that overlaps counts",
     {0, 0},
     {102000, 108000},
     0,
     &one_way,
     109500,
     "local timer interrupt on the source's CPU"},
};

static void test_paths(void)
{
	for (size_t i = 0; i < sizeof(path_cases) / sizeof(path_cases[0]); i++) {
		struct case_of c;

		begin_case(&c);
		for (unsigned side = 0; side < 2; side++) {
			if (side == 0 && path_cases[i].task[0]) {
				taken(path_cases[i].task[0], "busy");
				event(path_cases[i].task[1], TRACE_OWN, NULL);
			}
			if (side == path_cases[i].irq_side)
				interrupted(path_cases[i].irq[0], path_cases[i].irq[1], "local timer");
			take_side(&c, side);
		}
		c.path = *path_cases[i].path;
		c.came[10] = path_cases[i].came;
		attribute(&c);
		is_str(verdict(&c, 0), path_cases[i].verdict, "%s", path_cases[i].title);
		if (path_cases[i].covered)
			is_int(c.found.late[0].covered, path_cases[i].covered, "what is covered");
		if (path_cases[i].time)
			is_int(c.found.late[0].time, path_cases[i].time, "the time of the cause");
		end_case(&c);
	}
}

static void test_known(void)
{
	struct case_of c;

	begin_case(&c);
	json_object_set_new(json_object_get(about, "known_until_ns"), "1", json_integer(150000));
	take_side(&c, 1);
	c.came[10] = 107000;
	c.came[20] = 207000;
	attribute(&c);
	is_str(verdict(&c, 0), "unexplained", "before events were lost nothing is known to be nothing");
	is_str(verdict(&c, 1), "not known: events were lost, or its CPU was taken away", "afterwards it is not known");
	end_case(&c);

	begin_case(&c);
	taken(100500, "migration");
	event(101000, TRACE_IDLE, NULL);
	take_side(&c, 1);
	c.came[20] = 207000;
	attribute(&c);
	is_str(verdict(&c, 0), "not known: events were lost, or its CPU was taken away",
	       "where its CPU was taken away it is not known");
	end_case(&c);

	begin_case(&c);
	c.came[10] = 107000;
	attribute(&c);
	is_str(verdict(&c, 0), "not known: events were lost, or its CPU was taken away",
	       "without events nothing is known");
	is_int((long long)c.found.typical, 0, "nor of typical messages");
	end_case(&c);

	begin_case(&c);
	json_object_set_new(about, "gaps_missed", json_integer(7));
	gap(150000, 152000);
	interrupted(300000, 308000, "local timer");
	take_side(&c, 1);
	c.came[10] = 107000;
	c.came[20] = 207000;
	c.came[30] = 308500;
	attribute(&c);
	is_str(verdict(&c, 0), "unexplained", "as long as all gaps were kept, one that is not there did not happen");
	is_str(verdict(&c, 1), "not known: events were lost, or its CPU was taken away",
	       "behind the last there was room for, it may have");
	is_str(verdict(&c, 2), "local timer interrupt on the sink's CPU", "but what events explain is explained");
	end_case(&c);
}

static void test_queue(void)
{
	struct case_of c;

	begin_case(&c);
	take_side(&c, 0);
	taken(100500, "stress");
	event(119000, TRACE_OWN, NULL);
	take_side(&c, 1);
	for (int i = 10; i < 30; i++) {
		c.sent[i] = 100000 + (i - 10) * 900;
		c.came[i] = 119500 + (i - 10) * 1000;
	}
	attribute(&c);
	is_int((long long)c.found.count, 20, "a task keeps twenty messages");
	is_str(verdict(&c, 0), "preempted by stress on the sink's CPU", "the first by itself");
	is_str(verdict(&c, 19), "queued behind a late message", "the last because it had to wait for those before it");
	ok(c.found.late[19].behind >= 10 && c.found.late[19].behind < 29, "behind one that the task kept: %lld",
	   c.found.late[19].behind);
	c.found.count = 0;
	c.came[28] = 140000; /* came after the one behind it */
	attribute(&c);
	is_str(verdict(&c, 19), "unexplained", "nobody queues behind one that came later");
	end_case(&c);
}

static void test_typical(void)
{
	struct case_of c;

	begin_case(&c);
	take_side(&c, 0);
	for (int i = 0; i < MESSAGES; i += 4) {
		interrupted(i * 10000 + 200, i * 10000 + 300, "local timer");
	}
	take_side(&c, 1);
	attribute(&c);
	is_int((long long)c.found.typical, 1000, "a thousand typical messages are looked at");
	ok(c.found.coincidences > 200 && c.found.coincidences < 300,
	   "in a quarter of them something happens by chance: %zu", c.found.coincidences);
	end_case(&c);
}

static void test_causes(void)
{
	struct cause_table t = {.list = NULL};
	const unsigned a = cause_table_of(&t, CAUSE_SOFTIRQ, 0, "TIMER"),
		       b = cause_table_of(&t, CAUSE_TASK, 0, "TIMER");

	is_int(cause_table_of(&t, CAUSE_SOFTIRQ, 0, "TIMER"), a, "a cause is in the table once");
	ok(a != b && cause_table_of(&t, CAUSE_SOFTIRQ, 1, "TIMER") != a, "another class or side is another cause");
	is_int(cause_table_of(&t, CAUSE_TASK, 0, "a\033[31mb"), cause_table_of(&t, CAUSE_TASK, 0, "a\033[31mb"),
	       "so is one with control characters, once");
	is_str(t.list[cause_table_of(&t, CAUSE_TASK, 0, "a\033[31mb")].name, "a?[31mb",
	       "which do not reach a terminal");
	ok(cause_is_known(CAUSE_BELOW) && !cause_is_known(CAUSE_UNEXPLAINED),
	   "what is not explained is no explanation");
	cause_table_free(&t);
}

/* --- a program's threads --- */

#define FIRST  100 /* numbers of its threads */
#define SECOND 101

static const char *part_of(const struct timeline_threads *t, const struct cause_table *causes, int64_t tid, size_t i)
{
	static char text[2][192];
	static unsigned next;
	const struct timeline *line = &timeline_thread_find(t, tid)->line;
	char *buf = text[next++ % 2], cause[160];

	if (i >= line->count)
		return "(none)";
	snprintf(buf, sizeof(text[0]), "%lld-%lld %s", (long long)line->segments[i].from,
		 (long long)line->segments[i].to,
		 cause_describe(&causes->list[line->segments[i].cause], cause, sizeof(cause)));
	return buf;
}

/* The first thread computes, waits in a call until the second wakes it, waits for a CPU, and computes; an interrupt of
 * 10 us hits each. */
static void record_threads(void)
{
	begin_events();
	event_on(0, 1000, TRACE_OWN, "server", FIRST);
	event_on(1, 1000, TRACE_OWN, "worker", SECOND);
	event_on(0, 2000, TRACE_IRQ_ENTER, "local timer", 0);
	event_on(0, 12000, TRACE_IRQ_EXIT, NULL, 0);
	event_on(0, 20000, TRACE_CALL_ENTER, "futex", FIRST);
	event_on(0, 21000, TRACE_SLEPT, NULL, FIRST);
	event_on(0, 21000, TRACE_TASK, "make", 0);
	event_on(1, 30000, TRACE_FAULT, NULL, SECOND);
	event_on(1, 31000, TRACE_CALL_ENTER, "futex", SECOND);
	event_on(1, 32000, TRACE_WOKEN, "someone", FIRST);
	event_on(1, 33000, TRACE_CALL_EXIT, NULL, SECOND);
	event_on(0, 40000, TRACE_TASK, "cc", 0);
	event_on(0, 45000, TRACE_IRQ_ENTER, "local timer", 0);
	event_on(0, 46000, TRACE_IRQ_EXIT, NULL, 0);
	event_on(1, 50000, TRACE_MOVED, NULL, FIRST);
	event_on(1, 60000, TRACE_PREEMPTED, NULL, SECOND);
	event_on(1, 60000, TRACE_OWN, "server", FIRST);
	event_on(1, 61000, TRACE_CALL_EXIT, NULL, FIRST);
	event_on(1, 70000, TRACE_STOPPED, NULL, FIRST);
	event_on(1, 70000, TRACE_IDLE, NULL, 0);
	event_on(0, 90000, TRACE_WOKEN, NULL, FIRST);
	event_on(1, 91000, TRACE_OWN, "server", FIRST);
	event_on(1, 99000, TRACE_SLEPT, NULL, FIRST);
	event_on(1, 99000, TRACE_IDLE, NULL, 0);
}

static void test_threads(void)
{
	static const char *const first[] = {"1000-2000 running its own code",
					    "2000-12000 local timer interrupt",
					    "12000-20000 running its own code",
					    "20000-21000 running in the system call futex",
					    "21000-32000 asleep in futex, woken by worker",
					    "32000-40000 preempted by make",
					    "40000-45000 preempted by cc",
					    "45000-46000 local timer interrupt",
					    "46000-50000 preempted by cc",
					    "50000-60000 preempted by worker",
					    "60000-61000 running in the system call futex",
					    "61000-70000 running its own code",
					    "70000-90000 stopped by a signal",
					    "90000-91000 idle exit and wake-up",
					    "91000-99000 running its own code"},
				 *const second[] = {"1000-30000 running its own code",
						    "30000-31000 page fault",
						    "31000-33000 running in the system call futex",
						    "33000-60000 running its own code",
						    "60000-70000 preempted by server",
						    "70000-91000 throttled: kept from its CPU"};
	struct cause_table causes = {.list = NULL};
	struct timeline_threads t;
	struct trace_file f;

	record_threads();
	f = trace_file_of_events(about, words, event_count);
	timeline_build_threads(&f, &causes, &t);
	is_int((long long)t.count, 2, "each thread has a timeline");
	ok(!timeline_thread_find(&t, 99) && !timeline_thread_find(&t, 102), "others have none");
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		is_str(part_of(&t, &causes, FIRST, i), first[i], "part %zu of the first thread", i);
	for (size_t i = 0; i < sizeof(second) / sizeof(second[0]); i++)
		is_str(part_of(&t, &causes, SECOND, i), second[i], "part %zu of the second thread", i);
	is_int((long long)timeline_thread_find(&t, FIRST)->wake_count, 2, "it was woken twice");
	ok(timeline_thread_find(&t, FIRST)->wakes[0].by == timeline_thread_find(&t, SECOND),
	   "first by the other thread");
	ok(!timeline_thread_find(&t, FIRST)->wakes[1].by, "then by somebody else");
	timeline_free_threads(&t);
	cause_table_free(&causes);
}

#define TICK 4000000

/* Two CPUs get a tick every 4 ms, but for the fifth, which comes 30 ms late to the first; the thread's control group gets quota
 * again at 51.6 ms. */
static void record_ticks(void)
{
	begin_events();
	event_on(0, 0, TRACE_OWN, "server", FIRST);
	event_on(1, 0, TRACE_TASK, "make", 0);
	for (int64_t i = 1; i < 40; i++) {
		const int64_t at = i * TICK + (i == 5 ? 30000000 : 0);

		if (i > 5 && at < 50000000)
			continue;
		for (int cpu = 0; cpu < 2; cpu++) {
			event_on(cpu, at, TRACE_IRQ_ENTER, "local timer", 0);
			event_on(cpu, at + 1000, TRACE_IRQ_EXIT, NULL, 0);
		}
		if (i != 5)
			continue;
		event_on(0, 51000000, TRACE_PREEMPTED, NULL, FIRST);
		event_on(0, 51000000, TRACE_TASK, "cc", 0);
		event_on(0, 51500000, TRACE_TASK, "make", 0);
		event_on(1, 51600000, TRACE_TIMER_ENTER, "sched_cfs_period_timer", 0);
		event_on(0, 51900000, TRACE_OWN, "server", FIRST);
	}
}

/* The part of the first thread's timeline at that time. */
static const char *part_at(const struct timeline_threads *t, const struct cause_table *causes, int64_t time)
{
	return part_of(t, causes, FIRST, timeline_find(&timeline_thread_find(t, FIRST)->line, time));
}

static void test_ticks(void)
{
	struct cause_table causes = {.list = NULL};
	struct timeline_threads t;
	struct trace_file f;

	for (int has_quota = 0; has_quota < 2; has_quota++) {
		record_ticks();
		json_object_set_new(about, "throttled", json_integer(has_quota));
		f = trace_file_of_events(about, words, event_count);
		timeline_build_threads(&f, &causes, &t);
		is_str(part_at(&t, &causes, 21000000), "20000000-50000000 below the kernel (firmware or hypervisor)",
		       "a busy CPU without events, even the tick, was not running");
		is_str(part_at(&t, &causes, 17000000), "16001000-20000000 running its own code",
		       "but until it was due");
		is_str(part_at(&t, &causes, 51200000),
		       has_quota ? "51000000-51600000 throttled: kept from its CPU"
				 : "51000000-51500000 preempted by cc",
		       has_quota ? "a group without quota does not run until it gets some, whoever has its CPU"
				 : "if it has not used up a quota, it waits for others");
		is_str(part_at(&t, &causes, 51700000),
		       has_quota ? "51600000-51900000 preempted by make" : "51500000-51900000 preempted by make",
		       "then it waits behind others");
		timeline_free_threads(&t);
	}
	json_object_del(about, "throttled");
	cause_table_free(&causes);
}

/* Requests of the first thread every 100 us: each sleeps for 50 us, the last for 55, and it computes for 30 instead of 10. */
static void test_requests(void)
{
	enum { REQUESTS = 20 };
	int64_t from[REQUESTS], to[REQUESTS], thread[REQUESTS];
	struct cause_table causes = {.list = NULL};
	struct attribution found = {.late = NULL};
	struct timeline_threads t;
	struct trace_file f;
	char text[192];

	begin_events();
	event_on(0, 0, TRACE_OWN, "server", FIRST);
	for (int64_t i = 0; i < REQUESTS; i++) {
		const int64_t late = i == REQUESTS - 1, start = 100000 * (i + 1), sleep = late ? 55000 : 50000;

		from[i] = start;
		thread[i] = i == 2 ? SECOND : FIRST;
		event_on(0, start, TRACE_CALL_ENTER, "read", FIRST);
		event_on(0, start, TRACE_SLEPT, NULL, FIRST);
		event_on(0, start, TRACE_IDLE, NULL, 0);
		event_on(1, start + sleep, TRACE_WOKEN, "client", FIRST);
		event_on(0, start + sleep, TRACE_OWN, "server", FIRST);
		event_on(0, start + sleep, TRACE_CALL_EXIT, NULL, FIRST);
		to[i] = start + sleep + (late ? 30000 : 10000) + (i == 2 ? 30000 : 0);
	}
	event_on(0, 100000 * (REQUESTS + 1), TRACE_IDLE, NULL, 0);
	f = trace_file_of_events(about, words, event_count);
	timeline_build_threads(&f, &causes, &t);
	attribution_add(&(struct attribution_input){.span = {to, from, REQUESTS},
						    .divide = 1,
						    .limit = 70000,
						    .median = 60000,
						    .threads = &t,
						    .thread = thread},
			&causes, &found);
	is_int((long long)found.count, 2, "two requests are late");
	is_str(cause_describe(&causes.list[found.late[0].cause], text, sizeof(text)),
	       "not known: events were lost, or its CPU was taken away",
	       "one in a thread of which nothing is known is not explained");
	is_str(cause_describe(&causes.list[found.late[1].cause], text, sizeof(text)), "running its own code",
	       "the other one by what takes longer than it does in others, although it sleeps for longer");
	is_int(found.late[1].time, 20000, "which took that much more");
	is_int((long long)found.typical, 0, "there is no control, as every request has causes");
	attribution_free(&found);
	timeline_free_threads(&t);
	cause_table_free(&causes);
}

int main(void)
{
	test_threads();
	test_ticks();
	test_requests();
	test_nesting();
	test_turns();
	test_lost();
	test_gaps();
	test_messages();
	test_path();
	test_paths();
	test_known();
	test_queue();
	test_typical();
	test_causes();
	json_decref(about);
	return done_testing();
}
