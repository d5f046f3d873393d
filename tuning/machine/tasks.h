/*
 * The threads of a machine (of programs and of the kernel), and where they may run.
 */
#ifndef KBLAT_TUNING_TASKS_H
#define KBLAT_TUNING_TASKS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/cpulist.h"

struct machine;

struct thread {
	int pid, tid;
	unsigned long long start; /* clock ticks since boot: with tid, it names a thread for good */
	bool is_kernel, is_bound; /* bound: the kernel refuses to move it (PF_NO_SETAFFINITY) */
	char state;		  /* of /proc/PID/stat: 'T' is stopped */
	int parent;		  /* the process */
	int policy, priority;	  /* SCHED_* (-1: unknown); of real-time threads: 1 to 99 */
	char name[32];		  /* clean text */
	struct cpulist cpus;	  /* that it may run on, also those that are offline */
};

/* Call `visit` for each; a thread that ends meanwhile is left out. 0 or what `visit` returned. */
int tasks_each(const struct machine *m, int (*visit)(const struct thread *t, void *context), void *context);

/* The content of /proc/TID/stat: sets all but `pid`, `tid` and `cpus`. 0 or -EINVAL. */
int tasks_read_stat(const char *text, struct thread *t);

/* One thread: 0 or -ESRCH. */
int tasks_read(const struct machine *m, int pid, int tid, struct thread *t);

/* Set how it is scheduled: live machines only. 0 or a negative errno. */
int tasks_schedule(struct machine *m, int tid, int policy, int priority);

/* Set where it may run: live machines only. 0 or a negative errno. */
int tasks_place(struct machine *m, int tid, const struct cpulist *cpus);

/* What the status of a process or thread ("12", "12/task/13") has under a key ("PPid"). 0, or a negative errno; -ENODATA:
 * it has no such line. */
int tasks_status(const struct machine *m, const char *of, const char *key, char *buf, size_t size);

/* The cpuset or control group of a process as /proc/PID/cpuset says it ("/real-time-0"). Returns
 * `buf`, "" if unknown. */
char *tasks_cpuset(const struct machine *m, int pid, char *buf, size_t size);

/* The first process with that name that belongs to root and was started from a program with that name (as any process
 * may take any name); or 0. */
int tasks_find(const struct machine *m, const char *name);

#endif
