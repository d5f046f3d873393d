/*
 * The names used by events (of interrupts, tasks, kernel functions), each stored once. An event contains the number of
 * a name.
 */
#ifndef KBLAT_TRACE_NAMES_H
#define KBLAT_TRACE_NAMES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

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

#endif
