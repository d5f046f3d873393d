/*
 * Linked in place of what would reach beyond this process (ld --wrap): reading what comes from outside, or a recorded
 * machine, starts nothing, ends nothing and pins nobody. gnuplot is found missing.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include "fuzz.h"
#include "tuning/machine/process.h"

int __wrap_kill(pid_t pid, int number);
int __wrap_process_signal(const struct process *p, int number);
pid_t __wrap_fork(void);
int __wrap_execvp(const char *file, char *const argv[]);
int __wrap_execv(const char *file, char *const argv[]);

int __wrap_kill(pid_t pid, int number)
{
	(void)pid;
	fuzz_require(!number);
	errno = ESRCH;
	return -1;
}

int __wrap_process_signal(const struct process *p, int number)
{
	(void)p;
	fuzz_require(!number);
	return -ESRCH;
}

pid_t __wrap_fork(void)
{
	errno = EAGAIN;
	return -1;
}

int __wrap_execvp(const char *file, char *const argv[])
{
	(void)file, (void)argv;
	__builtin_trap();
}

int __wrap_execv(const char *file, char *const argv[])
{
	(void)file, (void)argv;
	__builtin_trap();
}
