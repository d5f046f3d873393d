#include "measure/trace/trace_events.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <tracefs.h>

#include "common/cpulist.h"
#include "common/or_abort.h"

#define NOTHING	  -1
#define TASK_COMM 16 /* include/linux/sched.h, including the NUL */

/* --- words --- */

int trace_words_add(struct trace_words *w, const int64_t event[TRACE_WORDS])
{
	if (w->most && w->count == w->most) {
		w->left++;
		return 0;
	}
	if (w->count == w->room) {
		size_t room = w->room ? 2 * w->room : 4096;
		int64_t *data = large_resize(w->data, room * TRACE_WORDS, sizeof(*data));

		if (!data)
			return -ENOMEM;
		w->data = data;
		w->room = room;
	}
	memcpy(w->data + w->count++ * TRACE_WORDS, event, TRACE_WORDS * sizeof(*event));
	return 0;
}

void trace_words_free(struct trace_words *w)
{
	free(w->data);
	*w = (struct trace_words){.most = w->most};
}

/* --- threads --- */

static bool is_tid(int64_t tid)
{
	return tid > 0 && tid < TRACE_TID_MOST;
}

void trace_threads_add(struct trace_threads *t, int64_t tid)
{
	if (!t->bits)
		t->bits = or_abort(calloc(TRACE_TID_MOST / 64, sizeof(*t->bits)));
	if (is_tid(tid))
		t->bits[tid / 64] |= UINT64_C(1) << tid % 64;
}

static bool trace_threads_has(const struct trace_threads *t, int64_t tid)
{
	return t->bits && is_tid(tid) && t->bits[tid / 64] & UINT64_C(1) << tid % 64;
}

void trace_threads_free(struct trace_threads *t)
{
	free(t->bits);
	t->bits = NULL;
}

/* --- fields of a record --- */

struct record {
	struct trace_reader *reader;
	const struct tep_event *event;
	struct tep_record *record;
	int cpu;
	int64_t time;
};

static int64_t record_number(const struct record *r, const char *name)
{
	struct tep_format_field *field = tep_find_field((struct tep_event *)r->event, name);
	unsigned long long value;

	if (!field || tep_read_number_field(field, r->record->data, &value))
		return 0;
	/* The library extends no sign. */
	if (field->flags & TEP_FIELD_IS_SIGNED && field->size > 0 && field->size < 8)
		return (int64_t)(value << (64 - 8 * field->size)) >> (64 - 8 * field->size);
	return (int64_t)value;
}

/* A string field of the record, or "". */
static const char *record_text(const struct record *r, const char *name, char *buf, size_t size)
{
	int length = 0;
	const char *text = tep_get_field_raw(NULL, (struct tep_event *)r->event, name, r->record, &length, 0);

	snprintf(buf, size, "%.*s", text && length > 0 ? length : 0, text ? text : "");
	return buf;
}

static int record_keep(const struct record *r, enum trace_kind kind, int64_t name, int64_t value)
{
	return trace_words_add(r->reader->to, (int64_t[TRACE_WORDS]){r->time, r->cpu, kind, name, value});
}

static bool is_own(const struct record *r, int64_t tid)
{
	return trace_threads_has(r->reader->own, tid);
}

/* An event about one of the reader's own threads. */
static int record_keep_of(const struct record *r, enum trace_kind kind, int64_t name, int64_t tid)
{
	return record_keep(r, kind, name, r->reader->program ? tid : 0);
}

/* --- converting records --- */

struct event_row {
	const char *system, *event;
	enum trace_kind kind;
	const char *name; /* if it is always the same; NULL: keep() determines it */
	int (*keep)(const struct record *r, const struct event_row *row);
};

/* In which context the event occurred: a bit of enum trace_flag_type (include/linux/trace_events.h); 0: a task's. */
enum { HARDIRQ = 0x08, SOFTIRQ = 0x10 };

static int context_of(const struct record *r)
{
	const int flags = tep_data_flags(r->event->tep, r->record);

	return flags & HARDIRQ ? HARDIRQ : flags & SOFTIRQ;
}

/* What may wake a program's thread next. Interrupts come amid softirqs, which then go on. */
static int keep_context(const struct record *r, enum trace_kind kind, int64_t name)
{
	struct trace_program *p = r->reader->program;
	const int context = context_of(r);

	if (p && context && name != NOTHING && r->cpu < CPULIST_MAX)
		(context == HARDIRQ ? p->interrupt : p->softirq)[r->cpu] = name;
	return record_keep(r, kind, name, 0);
}

static int keep_named(const struct record *r, const struct event_row *row)
{
	return keep_context(r, row->kind, row->name ? trace_names_of(r->reader->names, row->name) : NOTHING);
}

static int keep_fault(const struct record *r, const struct event_row *row)
{
	return record_keep_of(r, row->kind, NOTHING, tep_data_pid(r->event->tep, r->record));
}

static int keep_irq(const struct record *r, const struct event_row *row)
{
	char name[64], text[96];

	snprintf(text, sizeof(text), "%s (IRQ %lld)", record_text(r, "name", name, sizeof(name)),
		 (long long)record_number(r, "irq"));
	return keep_context(r, row->kind,
			    row->kind == TRACE_IRQ_ENTER ? trace_names_of(r->reader->names, text) : NOTHING);
}

static int keep_softirq(const struct record *r, const struct event_row *row)
{
	/* include/linux/interrupt.h */
	static const char *const names[] = {"HI",	"TIMER",   "NET_TX", "NET_RX",	"BLOCK",
					    "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};
	const uint64_t number = (uint64_t)record_number(r, "vec");

	return keep_context(
	    r, row->kind,
	    trace_names_of(r->reader->names, number < sizeof(names) / sizeof(names[0]) ? names[number] : "unknown"));
}

static int keep_function(const struct record *r, const struct event_row *row)
{
	return keep_context(r, row->kind,
			    trace_names_of_function(r->reader->names, (uint64_t)record_number(r, "function")));
}

static int keep_nmi(const struct record *r, const struct event_row *row)
{
	return record_keep(r, row->kind,
			   trace_names_of_function(r->reader->names, (uint64_t)record_number(r, "handler")),
			   record_number(r, "delta_ns"));
}

static int keep_frequency(const struct record *r, const struct event_row *row)
{
	const int64_t cpu = record_number(r, "cpu_id");
	const struct record there = {r->reader, r->event, r->record, (int)cpu, r->time};

	return record_keep(&there, row->kind, NOTHING, record_number(r, "state"));
}

/* Leaving is the state -1 in 32 bits. */
static int keep_idle_state(const struct record *r, const struct event_row *row)
{
	return record_keep(r, row->kind, NOTHING, (int32_t)record_number(r, "state"));
}

static int keep_call(const struct record *r, const struct event_row *row)
{
	const int64_t tid = tep_data_pid(r->event->tep, r->record);

	if (!is_own(r, tid))
		return 0;
	return record_keep_of(
	    r, row->kind,
	    row->kind == TRACE_CALL_ENTER ? trace_names_of_call(r->reader->names, record_number(r, "id")) : NOTHING,
	    tid);
}

/* Who wakes a program's thread: an interrupt, a softirq, or the task that runs. */
static int64_t waker_of(const struct record *r)
{
	const struct trace_program *p = r->reader->program;
	const int context = context_of(r);

	if (!p || r->cpu >= CPULIST_MAX)
		return NOTHING;
	return (context == HARDIRQ ? p->interrupt : context == SOFTIRQ ? p->softirq : p->running)[r->cpu];
}

static int keep_wakeup(const struct record *r, const struct event_row *row)
{
	const int64_t tid = record_number(r, "pid");

	return is_own(r, tid) ? record_keep_of(r, row->kind, waker_of(r), tid) : 0;
}

static int keep_moved(const struct record *r, const struct event_row *row)
{
	const int64_t tid = record_number(r, "pid");
	const struct record there = {r->reader, r->event, r->record, (int)record_number(r, "dest_cpu"), r->time};

	return is_own(r, tid) ? record_keep_of(&there, row->kind, NOTHING, tid) : 0;
}

/* Threads and processes that the program starts are its own. */
static int keep_birth(const struct record *r, const struct event_row *row)
{
	(void)row;
	if (r->reader->program)
		trace_threads_add(&r->reader->program->threads, record_number(r, "pid"));
	return 0;
}

/* Not handled, and none of those that are then ignored, stop a process, or let it go on. */
static bool is_deadly(int64_t signal, int64_t handler)
{
	static const int others[] = {SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (signal == others[i])
			return false;
	return signal > 0 && !handler; /* SIG_DFL */
}

bool trace_signal_is_fault(int signal)
{
	static const int faults[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS};

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (signal == faults[i])
			return true;
	return false;
}

static int keep_death(const struct record *r, const struct event_row *row)
{
	const int64_t signal = record_number(r, "sig");
	struct trace_death *death = r->reader->program ? &r->reader->program->death : NULL;

	(void)row;
	if (death && is_deadly(signal, record_number(r, "sa_handler")) &&
	    (!death->signal || (trace_signal_is_fault((int)signal) && !trace_signal_is_fault(death->signal))))
		*death = (struct trace_death){(int)signal, tep_data_pid(r->event->tep, r->record)};
	return 0;
}

/* Why the thread left the CPU: the states of fs/proc/array.c; the bit above them means that it was
 * preempted. */
static enum trace_kind kind_of_leaving(int64_t state)
{
	enum { ALL = 0xff, STOPPED = 0x04 | 0x08 };

	return !(state & ALL) ? TRACE_PREEMPTED : state & STOPPED ? TRACE_STOPPED : TRACE_SLEPT;
}

/* Of the task of a switch; `field`: where its command is. */
static int64_t name_of_task(const struct record *r, const char *field, int64_t tid)
{
	struct trace_names *names = r->reader->names;
	char command[32];

	record_text(r, field, command, sizeof(command));
	return trace_names_of_task(
	    names, names->mask && !trace_names_is_kernel_thread(names, (pid_t)tid, command) ? "a task" : command,
	    (pid_t)tid);
}

static int keep_next(const struct record *r, int64_t next)
{
	char command[32];
	int64_t name;

	if (r->reader->program && r->cpu < CPULIST_MAX)
		r->reader->program->running[r->cpu] = NOTHING;
	if (!next)
		return record_keep(r, TRACE_IDLE, NOTHING, 0);
	if (is_own(r, next) && !r->reader->program)
		return record_keep(r, TRACE_OWN, NOTHING, 0);
	name = name_of_task(r, "next_comm", next);
	if (r->reader->program && r->cpu < CPULIST_MAX)
		r->reader->program->running[r->cpu] = name;
	if (is_own(r, next))
		return record_keep_of(r, TRACE_OWN, name, next);
	record_text(r, "next_comm", command, sizeof(command));
	return record_keep(
	    r, trace_names_is_kernel_thread(r->reader->names, (pid_t)next, command) ? TRACE_KERNEL_THREAD : TRACE_TASK,
	    name, 0);
}

static int keep_switch(const struct record *r, const struct event_row *row)
{
	const int64_t previous = record_number(r, "prev_pid");
	int rc = 0;

	(void)row;
	if (is_own(r, previous))
		rc = record_keep_of(r, kind_of_leaving(record_number(r, "prev_state")),
				    r->reader->program ? name_of_task(r, "prev_comm", previous) : NOTHING, previous);
	return rc ? rc : keep_next(r, record_number(r, "next_pid"));
}

/* --- the table --- */

#define BIRTHS	      "task"
#define DEATHS	      "signal"
#define CALLS	      "raw_syscalls"
#define FAULTS	      "exceptions"
#define CALLS_FILTER  "events/" CALLS "/filter"
#define FAULTS_FILTER "events/" FAULTS "/filter"

#define VECTOR(vector, name)                                                                                           \
	{"irq_vectors", vector "_entry", TRACE_IRQ_ENTER, name, keep_named},                                           \
	{                                                                                                              \
		"irq_vectors", vector "_exit", TRACE_IRQ_EXIT, NULL, keep_named                                        \
	}

static const struct event_row event_rows[] = {
    VECTOR("local_timer", "local timer"),
    VECTOR("reschedule", "reschedule IPI"),
    VECTOR("call_function", "function call IPI"),
    VECTOR("call_function_single", "function call IPI"),
    VECTOR("irq_work", "irq_work IPI"),
    VECTOR("x86_platform_ipi", "platform IPI"),
    VECTOR("thermal_apic", "thermal"),
    VECTOR("threshold_apic", "machine check threshold"),
    VECTOR("deferred_error_apic", "deferred error"),
    VECTOR("error_apic", "APIC error"),
    VECTOR("spurious_apic", "spurious"),
    {"irq", "irq_handler_entry", TRACE_IRQ_ENTER, NULL, keep_irq},
    {"irq", "irq_handler_exit", TRACE_IRQ_EXIT, NULL, keep_named},
    {"ipi", "ipi_entry", TRACE_IRQ_ENTER, "IPI", keep_named}, /* arm64 */
    {"ipi", "ipi_exit", TRACE_IRQ_EXIT, NULL, keep_named},
    {"irq", "softirq_entry", TRACE_SOFTIRQ_ENTER, NULL, keep_softirq},
    {"irq", "softirq_exit", TRACE_SOFTIRQ_EXIT, NULL, keep_softirq},
    {"timer", "hrtimer_expire_entry", TRACE_TIMER_ENTER, NULL, keep_function},
    {"timer", "hrtimer_expire_exit", TRACE_TIMER_EXIT, NULL, keep_named},
    {"timer", "timer_expire_entry", TRACE_TIMER_ENTER, NULL, keep_function},
    {"timer", "timer_expire_exit", TRACE_TIMER_EXIT, NULL, keep_named},
    {"workqueue", "workqueue_execute_start", TRACE_WORK_ENTER, NULL, keep_function},
    {"workqueue", "workqueue_execute_end", TRACE_WORK_EXIT, NULL, keep_named},
    {"nmi", "nmi_handler", TRACE_NMI, NULL, keep_nmi},
    {"sched", "sched_switch", TRACE_TASK, NULL, keep_switch},
    {"sched", "sched_waking", TRACE_WOKEN, NULL, keep_wakeup},
    {"sched", "sched_migrate_task", TRACE_MOVED, NULL, keep_moved},
    {BIRTHS, "task_newtask", TRACE_OWN, NULL, keep_birth},
    {DEATHS, "signal_deliver", TRACE_OWN, NULL, keep_death},
    {FAULTS, "page_fault_user", TRACE_FAULT, NULL, keep_fault},
    {FAULTS, "page_fault_kernel", TRACE_FAULT, NULL, keep_fault},
    {"mce", "mce_record", TRACE_MACHINE_CHECK, NULL, keep_named},
    {"power", "cpu_frequency", TRACE_FREQUENCY, NULL, keep_frequency},
    {"power", "cpu_idle", TRACE_IDLE_STATE, NULL, keep_idle_state},
    {CALLS, "sys_enter", TRACE_CALL_ENTER, NULL, keep_call},
    {CALLS, "sys_exit", TRACE_CALL_EXIT, NULL, keep_call},
};

const char *const trace_event_systems[] = {"irq_vectors", "irq",  "ipi",  "timer", "workqueue", "nmi", "sched",
					   BIRTHS,	  DEATHS, FAULTS, "mce",   "power",	CALLS, NULL};

#define ROWS (sizeof(event_rows) / sizeof(event_rows[0]))

/* For events of which all tasks have so many that they would fill the buffers: only those of this
 * program are recorded, and once its threads are known, only theirs. */
static bool filter_own(struct tracefs_instance *instance, const char *file)
{
	char name[TASK_COMM + 1] = "", filter[sizeof(name) + 16];

	prctl(PR_GET_NAME, name);
	snprintf(filter, sizeof(filter), "comm == \"%s\"", name);
	return tracefs_instance_file_write(instance, file, filter) > 0;
}

/* The kernel accepts filters of at most a page. */
void trace_events_follow(struct tracefs_instance *instance, const pid_t *own, size_t count)
{
	static const char one_of[] = "common_pid == %d || ";
	char filter[TRACE_FOLLOWED_MAX * (sizeof(one_of) + 10)] = "";
	size_t length = 0;

	if (!count || count > TRACE_FOLLOWED_MAX)
		return;
	for (size_t i = 0; i < count; i++)
		length += (size_t)snprintf(filter + length, sizeof(filter) - length, one_of, (int)own[i]);
	filter[length - strlen(" || ")] = '\0';
	tracefs_instance_file_write(instance, FAULTS_FILTER, filter);
	tracefs_instance_file_write(instance, CALLS_FILTER, filter);
}

/* What the threads of a program do is an instance of its own, which the kernel restricts to them. */
static bool row_is_in(const struct event_row *row, enum trace_set set)
{
	const bool is_call = !strcmp(row->system, CALLS), is_fault = !strcmp(row->system, FAULTS),
		   is_birth = !strcmp(row->system, BIRTHS) || !strcmp(row->system, DEATHS);

	switch (set) {
	case TRACE_SET_PROGRAM:
		return is_call || is_fault || is_birth;
	case TRACE_SET_MACHINE:
		return !is_call && !is_fault && !is_birth;
	case TRACE_SET_CALLING:
	case TRACE_SET_ENDPOINT:
		return (!is_call || set == TRACE_SET_CALLING) && !is_birth && row->kind != TRACE_MOVED;
	}
	return false;
}

unsigned trace_events_enable(struct tracefs_instance *instance, enum trace_set set)
{
	unsigned enabled = 0;

	if (set == TRACE_SET_ENDPOINT || set == TRACE_SET_CALLING)
		filter_own(instance, FAULTS_FILTER);
	if (set == TRACE_SET_CALLING && !filter_own(instance, CALLS_FILTER))
		set = TRACE_SET_ENDPOINT;
	for (size_t i = 0; i < ROWS; i++)
		enabled += row_is_in(&event_rows[i], set) &&
			   tracefs_event_file_exists(instance, event_rows[i].system, event_rows[i].event, "enable") &&
			   !tracefs_event_enable(instance, event_rows[i].system, event_rows[i].event);
	return enabled;
}

static const struct event_row *row_of(const struct tep_event *event)
{
	for (size_t i = 0; i < ROWS; i++)
		if (!strcmp(event_rows[i].event, event->name) && !strcmp(event_rows[i].system, event->system))
			return &event_rows[i];
	return NULL;
}

int trace_events_keep(struct trace_reader *r, const struct tep_event *event, struct tep_record *record, int cpu,
		      int64_t time)
{
	const struct record one = {r, event, record, cpu, time};
	const struct trace_program *program = r->program;
	const struct event_row *row;

	if (program && program->probes && !strcmp(event->system, program->probes)) {
		program->take(program->context,
			      &(struct trace_probe_hit){event->name, time, tep_data_pid(event->tep, record),
							record_number(&one, "id"), record_number(&one, "site"),
							record_number(&one, "frame"), record_number(&one, "clue"),
							record_number(&one, "task"), record_number(&one, "top"),
							record_number(&one, "__probe_ip")});
		return 0;
	}
	row = row_of(event);
	return row ? row->keep(&one, row) : 0;
}
