#include "tuning/machine/child.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/err.h"
#include "common/spawn.h"
#include "tuning/machine/cgroups.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/signals.h"

/* as in shells */
#define CANNOT_RUN 126
#define NO_PROGRAM 127

struct place {
	struct machine *m;
	const char *in;
};

static int join_place(void *context)
{
	const struct place *p = context;
	struct err e = ERR_INIT;

	if (p->in && cgroups_join(p->m, p->in, &e)) {
		fprintf(stderr, "kbtune: %s\n", e.text);
		_exit(CANNOT_RUN);
	}
	return 0;
}

/* The terminal sends signals to the whole group, so the command has already received such a signal. */
static void pass_signal_on(pid_t child, const siginfo_t *info)
{
	if (info->si_code == SI_KERNEL)
		return;
	kill(child, info->si_signo);
}

static int await_command(pid_t child, const sigset_t *signals)
{
	int status;

	for (;;) {
		siginfo_t info;

		if (waitpid(child, &status, WNOHANG) == child)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		if (sigwaitinfo(signals, &info) >= 0 && info.si_signo != SIGCHLD)
			pass_signal_on(child, &info);
	}
}

int child_run(struct machine *m, const char *in, char *const argv[])
{
	struct place place = {m, in};
	const struct spawn s = {.words = (const char *const *)argv,
				.in = STDIN_FILENO,
				.out = STDOUT_FILENO,
				.err = STDERR_FILENO,
				.end_signal = SIGTERM,
				.prepare = join_place,
				.context = &place};
	sigset_t signals, before;
	pid_t child;
	int status;

	signals_ending(&signals);
	sigaddset(&signals, SIGQUIT);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, &before);
	fflush(stdout);
	child = spawn_program(&s);
	status = child < 0 ? child == -ENOENT ? NO_PROGRAM : CANNOT_RUN : await_command(child, &signals);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (child < 0)
		fprintf(stderr, "kbtune: %s: cannot run it: %s\n", argv[0], strerror(-child));
	return status;
}
