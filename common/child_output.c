#include "common/child_output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/err.h"
#include "common/monotonic.h"
#include "common/write_signals.h"

#define NO_PROGRAM 127 /* as in shells */

/* With ssh, users other than root do not have /usr/sbin in PATH. */
_Noreturn static void child_become(const char *const *words, int out)
{
	char path[256];
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	write_signals_restore();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(words[0], (char *const *)words);
	snprintf(path, sizeof(path), "/usr/sbin/%s", words[0]);
	execv(path, (char *const *)words);
	_exit(NO_PROGRAM);
}

/* 1: end of the output; 0: timeout; or a negative errno. */
static int read_until(int fd, int64_t deadline_ms, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (;;) {
		const int64_t left = deadline_ms - monotonic_ms();
		struct pollfd p = {fd, POLLIN, 0};
		char rest[256];
		const size_t room = size - 1 - used;
		ssize_t n;

		if (left <= 0)
			return 0;
		if (poll(&p, 1, (int)left) <= 0)
			continue;
		n = read(fd, room ? text + used : rest, room ? room : sizeof(rest));
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			return 1;
		if (n > 0 && room)
			text[used += (size_t)n] = '\0';
	}
}

static int child_await(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int child_output(const char *const *words, int limit_ms, char *text, size_t size, struct err *e)
{
	int fd[2], rc, status;
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC))
		return err_sys(e, -errno, words[0], "start");
	pid = fork();
	if (!pid)
		child_become(words, fd[1]);
	rc = pid < 0 ? -errno : 0;
	close(fd[1]);
	if (!rc)
		rc = read_until(fd[0], monotonic_ms() + limit_ms, text, size);
	close(fd[0]);
	if (pid < 0)
		return err_sys(e, rc, words[0], "start");
	if (rc <= 0)
		kill(pid, SIGKILL);
	status = child_await(pid);
	if (rc == 0)
		return err_set(e, -ETIMEDOUT, STATUS_FAILED, words[0], NULL, "has not ended within %d ms", limit_ms);
	if (rc < 0)
		return err_sys(e, rc, words[0], "read from");
	if (status == NO_PROGRAM)
		return err_set(e, -ENOENT, STATUS_IMPOSSIBLE, words[0], NULL, "there is no such program in PATH");
	return status;
}
