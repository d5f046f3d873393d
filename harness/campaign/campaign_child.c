#include "campaign/campaign_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/err.h"
#include "common/or_abort.h"

static volatile sig_atomic_t interrupted;
static volatile pid_t running[CAMPAIGN_CHILDREN_MAX]; /* 0: none; signals are blocked while it changes */

static void hand_on(int signal_number)
{
	for (size_t i = 0; i < CAMPAIGN_CHILDREN_MAX; i++)
		if (running[i] > 0)
			kill(running[i], signal_number);
}

static void on_signal(int signal_number)
{
	(void)signal_number;
	interrupted++;
	hand_on(SIGINT);
}

/* Ask the experiment to print its progress. */
static void on_question(int signal_number)
{
	hand_on(signal_number);
}

static void signal_set(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGUSR1);
}

void child_catch_signals(void)
{
	static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
	const struct sigaction sa = {.sa_handler = on_signal};

	for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		sigaction(caught[i], &sa, NULL);
	sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_question, .sa_flags = SA_RESTART}, NULL);
}

bool child_is_interrupted(void)
{
	return interrupted != 0;
}

/* The child gets a process group of its own. Otherwise it would receive a terminal's Ctrl-C in
 * addition to the signal that is passed on, so that it would count twice. */
_Noreturn static void become(char *const *argv, int out, int complaints)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	sigset_t set;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	if (complaints >= 0)
		dup2(complaints, STDERR_FILENO);
	signal(SIGUSR1, SIG_IGN); /* until the child has a handler of its own */
	signal_set(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	execv("/proc/self/exe", argv);
	_exit(STATUS_FAILED);
}

/* Replace `old` by `pid`, if `old` is in the list. */
static void running_replace(pid_t old, pid_t pid)
{
	size_t i = 0;

	while (i < CAMPAIGN_CHILDREN_MAX && running[i] != old)
		i++;
	if (i < CAMPAIGN_CHILDREN_MAX)
		running[i] = pid;
}

/* Signals are blocked until the process is known to which they must be passed on. */
pid_t campaign_child_start(char *const *argv, int out, int complaints, struct err *e)
{
	sigset_t set, old;
	pid_t pid;

	fflush(NULL);
	signal_set(&set);
	sigprocmask(SIG_BLOCK, &set, &old);
	pid = fork();
	if (!pid)
		become(argv, out, complaints);
	if (pid > 0) {
		setpgid(pid, pid);
		running_replace(0, pid);
	} else {
		pid = err_sys(e, -errno, "kblat", "start an experiment");
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	return pid;
}

/* getline() would be interrupted by a signal and lose what it has read. */
static char *read_line(FILE *in)
{
	char *line = NULL;
	size_t size, length = 0;
	FILE *out = or_abort(open_memstream(&line, &size));
	int c;

	for (;;) {
		errno = 0;
		c = fgetc(in);
		if (c == EOF && errno == EINTR) {
			clearerr(in);
			continue;
		}
		if (c == EOF)
			break;
		length++;
		if (c == '\n')
			break;
		fputc(c, out);
	}
	fclose(out);
	if (length)
		return line;
	free(line);
	return NULL;
}

/* Only when another line arrives is it known that a line was not the last one. */
static char *listen_to(FILE *in, FILE *echo)
{
	char *last = NULL, *line;

	while ((line = read_line(in))) {
		if (last && echo) {
			fprintf(echo, "%s\n", last);
			fflush(echo);
		}
		free(last);
		last = line;
	}
	return last ? last : strdup("");
}

int campaign_child_await(pid_t pid, pid_t *ended)
{
	sigset_t set, old;
	int status = 0;
	pid_t got;

	while ((got = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
		;
	signal_set(&set);
	sigprocmask(SIG_BLOCK, &set, &old);
	if (got > 0)
		running_replace(got, 0);
	sigprocmask(SIG_SETMASK, &old, NULL);
	*ended = got;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int campaign_child_run(char *const *argv, FILE *echo, char **last_line, struct err *e)
{
	int fd[2];
	FILE *in;
	pid_t pid;

	*last_line = NULL;
	if (pipe2(fd, O_CLOEXEC))
		return err_sys(e, -errno, "kblat", "make a pipe");
	pid = campaign_child_start(argv, fd[1], -1, e);
	close(fd[1]);
	in = pid < 0 ? NULL : fdopen(fd[0], "r");
	if (!in) {
		close(fd[0]);
		return pid < 0 ? pid : err_sys(e, -ENOMEM, "kblat", "read from an experiment");
	}
	*last_line = listen_to(in, echo);
	fclose(in);
	return campaign_child_await(pid, &pid);
}
