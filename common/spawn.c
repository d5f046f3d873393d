#include "common/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/monotonic.h"
#include "common/write_signals.h"

/* --- in the new process --- */

/* The other process could have ended before prctl(), which then has no effect. */
static int end_with(int end_signal, pid_t parent)
{
	if (end_signal && (prctl(PR_SET_PDEATHSIG, end_signal) || getppid() != parent))
		return -ESRCH;
	return 0;
}

static int set_streams(const struct spawn *s)
{
	const int wanted[] = {s->in, s->out, s->err};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < 3; fd++)
		if (dup2(wanted[fd] < 0 ? null : wanted[fd], fd) < 0)
			return -errno;
	return s->kept > STDERR_FILENO && fcntl(s->kept, F_SETFD, 0) ? -errno : 0;
}

/* A handler of this program must not run between fork() and exec(). All signals are blocked until it is removed. */
static void reset_signals(void)
{
	struct sigaction action;
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		if (!sigaction(number, NULL, &action) && action.sa_handler != SIG_IGN && action.sa_handler != SIG_DFL)
			signal(number, SIG_DFL);
	write_signals_restore();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* With ssh, users other than root do not have /usr/sbin in PATH. */
int spawn_replace(const char *program, const char *const *words)
{
	char path[256];
	int rc;

	execvp(program, (char *const *)words);
	rc = -errno;
	if (rc != -ENOENT || strchr(program, '/'))
		return rc;
	snprintf(path, sizeof(path), "/usr/sbin/%s", program);
	execv(path, (char *const *)words);
	return -errno;
}

static int become_program(const struct spawn *s, pid_t parent)
{
	int rc = end_with(s->end_signal, parent);

	if (!rc && s->own_group)
		setpgid(0, 0);
	if (!rc)
		rc = set_streams(s);
	reset_signals();
	if (!rc && s->prepare)
		rc = s->prepare(s->context);
	return rc ? rc : spawn_replace(s->program ? s->program : s->words[0], s->words);
}

/* --- in this one --- */

static ssize_t read_again(int fd, void *to, size_t size)
{
	ssize_t n;

	do
		n = read(fd, to, size);
	while (n < 0 && errno == EINTR);
	return n;
}

int spawn_await(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* `failure` closes when the program is executed; otherwise the reason arrives in it. */
static pid_t fork_program(const struct spawn *s, const int failure[2])
{
	const pid_t parent = getpid();
	sigset_t all, before;
	pid_t pid;
	int rc;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (!pid) {
		rc = become_program(s, parent);
		_exit(write(failure[1], &rc, sizeof(rc)) < 0 ? 2 : 1);
	}
	rc = pid < 0 ? -errno : 0;
	if (pid > 0 && s->own_group)
		setpgid(pid, pid);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return rc ? rc : pid;
}

pid_t spawn_program(const struct spawn *s)
{
	int failure[2], why;
	pid_t pid;

	if (pipe2(failure, O_CLOEXEC))
		return -errno;
	pid = fork_program(s, failure);
	close(failure[1]);
	if (pid > 0 && read_again(failure[0], &why, sizeof(why)) == (ssize_t)sizeof(why)) {
		spawn_await(pid);
		pid = why;
	}
	close(failure[0]);
	return pid;
}

pid_t spawn_function(void (*run)(void *context), void *context)
{
	pid_t pid = fork();

	if (!pid) {
		run(context);
		_exit(0);
	}
	return pid < 0 ? -errno : pid;
}

int spawn_orphan(void (*run)(void *context), void *context)
{
	pid_t pid = fork();

	if (!pid)
		_exit(spawn_function(run, context) < 0);
	if (pid < 0)
		return -errno;
	return spawn_await(pid) ? -EAGAIN : 0;
}

/* --- a program's output --- */

/* 0 or -ETIMEDOUT: it writes forever, or nothing. */
static int hear_out(int fd, int limit_ms, char *text, size_t size)
{
	const int64_t deadline_ms = monotonic_ms() + limit_ms;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	size_t used = 0;
	ssize_t n = 1;

	text[0] = '\0';
	while (n > 0) {
		const int64_t left = deadline_ms - monotonic_ms();

		if (left <= 0)
			return -ETIMEDOUT;
		if (poll(&p, 1, (int)left) <= 0)
			continue;
		if (used == size - 1) {
			memmove(text, text + size / 2, used - size / 2);
			used -= size / 2;
		}
		n = read_again(fd, text + used, size - 1 - used);
		used += n > 0 ? (size_t)n : 0;
		text[used] = '\0';
	}
	return 0;
}

int spawn_output(const struct spawn *s, int limit_ms, char *text, size_t size)
{
	struct spawn with = *s;
	int fd[2], rc, status;
	pid_t pid;

	text[0] = '\0';
	if (pipe2(fd, O_CLOEXEC))
		return -errno;
	with.in = -1;
	with.out = with.err = fd[1];
	pid = spawn_program(&with);
	close(fd[1]);
	rc = pid < 0 ? pid : hear_out(fd[0], limit_ms, text, size);
	close(fd[0]);
	if (pid < 0)
		return rc;
	if (rc)
		kill(pid, SIGKILL);
	status = spawn_await(pid);
	return rc ? rc : status;
}
