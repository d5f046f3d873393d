/*
 * Signals for a process that is not our child. By the time such a process is signalled, it may have ended, and another
 * one may have its ID. So it is recognised by the time of its start, while it is held open (pidfd_open(2), Linux 5.3).
 * On older kernels, or in a sandbox that denies this, there is a moment between the check and the signal.
 */
#ifndef KBLAT_TUNING_PROCESS_H
#define KBLAT_TUNING_PROCESS_H

#include <sys/types.h>

struct process {
	pid_t pid;
	unsigned long long start; /* clock ticks since boot; 0: unknown, so its ID must do */
};

/* The process that has this ID now; `start` is 0 if there is none. */
struct process process_of(pid_t pid);

/* 0; -ESRCH: it has ended, whoever has its ID now; or another negative errno. Signal 0 only checks. */
int process_signal(const struct process *p, int number);

#endif
