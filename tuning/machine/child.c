#include "tuning/machine/child.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/err.h"
#include "common/write_signals.h"
#include "tuning/machine/cgroups.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/signals.h"

static void become_command(struct machine *m, const char *in, char *const argv[], pid_t parent)
{
	struct err e = ERR_INIT;
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	write_signals_restore();
	if (in && cgroups_join(m, in, &e)) {
		fprintf(stderr, "kbtune: %s\n", e.text);
		_exit(126);
	}
	execvp(argv[0], argv);
	fprintf(stderr, "kbtune: %s: cannot run it: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
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

int child_run(struct machine *m, const char *in, char *const argv[], struct err *e)
{
	sigset_t signals, before;
	pid_t parent = getpid(), child;
	int rc;

	signals_ending(&signals);
	sigaddset(&signals, SIGQUIT);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, &before);
	fflush(stdout);
	child = fork();
	if (child == 0)
		become_command(m, in, argv, parent);
	rc = child < 0 ? err_sys(e, -errno, argv[0], "start a process") : await_command(child, &signals);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return rc;
}
