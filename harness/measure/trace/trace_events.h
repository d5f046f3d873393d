/*
 * Which events of the operating system's kernel are kept, and as which kinds: one table (trace_events.c). Events that a
 * kernel does not have are left out.
 */
#ifndef KBLAT_TRACE_EVENTS_H
#define KBLAT_TRACE_EVENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/trace_kinds.h"

struct tep_event;
struct tep_record;
struct tracefs_instance;

/* --- names in events, by number (trace_names.c) --- */

struct trace_names {
	json_t *list;	   /* strings */
	json_t *numbers;   /* text -> number */
	json_t *functions; /* "@ffffffff81234567", as long as it is not looked up -> number */
	json_t *threads;   /* number of a thread -> is it the kernel's? */
	json_t *cgroups;   /* number of a thread -> the control group that its name is given with, "": none */
	char *own_cgroup;  /* tasks in other control groups are named with theirs; NULL: none is */
	bool mask;	   /* tasks that are not the kernel's have no names */
};

void trace_names_init(struct trace_names *n);
void trace_names_free(struct trace_names *n);

int64_t trace_names_of(struct trace_names *n, const char *text);

/* From now on, tasks outside the control group of this process, such as those of other containers, are named with theirs:
 * "java (kubepods/pod7/0123456789ab)". Those of tasks that have ended when they are named are not known. */
void trace_names_see_cgroups(struct trace_names *n, pid_t pid);

/* The control group that a /proc/<pid>/cgroup names, of a container's long number the beginning; "": the root. */
char *trace_names_cgroup(const char *text, char *buf, size_t size);

/* The name of a task, as far as many share it: "kworker/1:2" is "kworker", "ksoftirqd/0" is "ksoftirqd". */
int64_t trace_names_of_task(struct trace_names *n, const char *command, pid_t tid);

/* Of a system call. */
int64_t trace_names_of_call(struct trace_names *n, int64_t number);

/* Of the function at an address in the kernel. */
int64_t trace_names_of_function(struct trace_names *n, uint64_t address);

/* Look up the names of functions (/proc/kallsyms); if that is not allowed, they become "a function of the kernel". */
void trace_names_resolve(struct trace_names *n);

/* Is this a kernel thread? If it has ended, its name decides. */
bool trace_names_is_kernel_thread(struct trace_names *n, pid_t tid, const char *command);

/* --- events --- */

/* Events as they are kept: TRACE_WORDS numbers each. */
struct trace_words {
	int64_t *data;
	size_t count, room; /* in events */
	size_t most;	    /* 0: no limit; later events are counted in `left` */
	size_t left;
};

/* Add one; 0 or -ENOMEM. */
int trace_words_add(struct trace_words *w, const int64_t event[TRACE_WORDS]);
void trace_words_free(struct trace_words *w);

/*
 * Which events. An endpoint is explained by what happens on its CPUs, and by its own system calls if it should need none.
 * A program is explained by two sets, each in an instance of its own: what happens on all CPUs, and what its threads do,
 * so that the kernel keeps the latter for these threads alone.
 */
enum trace_set { TRACE_SET_ENDPOINT, TRACE_SET_CALLING, TRACE_SET_MACHINE, TRACE_SET_PROGRAM };

/* Numbers of threads. */
struct trace_threads {
	uint64_t *bits; /* TRACE_TID_MOST of them */
};

#define TRACE_TID_MOST (1 << 22) /* include/linux/threads.h: PID_MAX_LIMIT */

void trace_threads_add(struct trace_threads *t, int64_t tid);
void trace_threads_free(struct trace_threads *t);

/* An event of a probe in a traced program. */
struct trace_probe_hit {
	const char *event; /* its name */
	int64_t time;	   /* as other events' */
	pid_t tid;
	/* Fields of these names; 0: it has none. `ip`: the address of the instruction. */
	int64_t id, site, frame, clue, task, top, ip;
};

/* A thread of a traced program that got a signal of which its process dies. */
struct trace_death {
	int signal; /* 0: none has */
	pid_t tid;
};

/* One that a process gets for what its own code does. */
bool trace_signal_is_fault(int signal);

/* A traced program, whose events name its threads. */
struct trace_program {
	struct trace_threads threads; /* at first those that it began with; what they start is added */
	const char *probes;	      /* the system of its probes; NULL: there are none */
	void (*take)(void *context, const struct trace_probe_hit *hit);
	void *context;
	struct trace_death death; /* the first, but rather one by a fault */
	/* for each CPU the names of the task that runs, and of the interrupt and the softirq that ran last; NULL: not yet */
	int64_t *running, *interrupt, *softirq;
};

/* Who reads: its own threads are not other tasks. */
struct trace_reader {
	const struct trace_threads *own;
	struct trace_names *names;
	struct trace_words *to;
	struct trace_program *program; /* NULL: an endpoint */
};

/* The systems that the table's events are of; NULL ends. */
extern const char *const trace_event_systems[];

/* Enable all events of a set that exist, in an instance that is switched off. Returns their number. */
unsigned trace_events_enable(struct tracefs_instance *instance, enum trace_set set);

#define TRACE_FOLLOWED_MAX 16 /* threads */

/* From now on, record page faults and system calls of these threads only; if there are more than
 * TRACE_FOLLOWED_MAX, of every task with this program's name, as before. */
void trace_events_follow(struct tracefs_instance *instance, const pid_t *own, size_t count);

/* Store an event. `time` is the record's, already converted. 0 or -ENOMEM. */
int trace_events_keep(struct trace_reader *r, const struct tep_event *event, struct tep_record *record, int cpu,
		      int64_t time);

#endif
