#include "report/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/text.h"

#define LIMIT_MS  60000
#define WORDS_MAX 1024
#define LEVELS	  3
#define NO_EXEC	  127
#define NO_DIR	  126

#ifndef KBLAT_DATADIR
#define KBLAT_DATADIR "/usr/local/share/kblat"
#endif

/* Where the scripts are ---------------------------------------------------------------------------------- */

static bool holds_scripts(const char *dir)
{
	char *style = fs_path("%s/style.gp", dir);
	bool there = !access(style, R_OK);

	free(style);
	return there;
}

/* Whoever names a folder means it: no other is looked for then. */
static char *from_environment(void)
{
	const char *dir = getenv("KBLAT_PLOTS");

	return dir && *dir ? fs_path("%s", dir) : NULL;
}

/* build/kblat, build/san/kblat, build/san/unit/test_report: the tree is above. */
static char *above_program(void)
{
	char path[PATH_MAX], *slash;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n <= 0)
		return NULL;
	path[n] = '\0';
	for (int level = 0; level <= LEVELS && (slash = strrchr(path, '/')); level++) {
		char *dir;

		*slash = '\0';
		dir = fs_path("%s/plots", path);
		if (level && holds_scripts(dir))
			return dir;
		free(dir);
	}
	return NULL;
}

static char *installed(void)
{
	char *dir = fs_path("%s/plots", KBLAT_DATADIR);

	if (holds_scripts(dir))
		return dir;
	free(dir);
	return NULL;
}

char *gnuplot_scripts(struct err *e)
{
	char *dir = from_environment(), *real;

	if (!dir)
		dir = above_program();
	if (!dir)
		dir = installed();
	if (!dir || !holds_scripts(dir)) {
		err_set(e, -ENOENT, STATUS_FAILED, dir ? dir : "plots", "find the plot scripts",
			dir ? "no style.gp in it; set KBLAT_PLOTS to the folder that has one, or unset it"
			    : "neither above the program nor installed; set KBLAT_PLOTS to their folder");
		free(dir);
		return NULL;
	}
	real = realpath(dir, NULL);
	free(dir);
	return real;
}

/* Running it --------------------------------------------------------------------------------------------- */

/* -d: no start-up files, so that the same tables give the same figures for everyone. */
_Noreturn static void become_gnuplot(const char *dir, const char *script, int out)
{
	char *argv[] = {(char *)"gnuplot", (char *)"-d", (char *)script, NULL};
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setenv("LC_ALL", "C.UTF-8", 1);
	if (chdir(dir))
		_exit(NO_DIR);
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	execvp(argv[0], argv);
	_exit(NO_EXEC);
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Its first words, until it closes the pipe. False: the time is over. */
static bool listen_to(int fd, char *words, size_t size)
{
	int64_t end = now_ms() + LIMIT_MS;
	size_t used = 0;

	words[0] = '\0';
	for (;;) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		int64_t left = end - now_ms();
		char more[4096];
		ssize_t n;

		if (left <= 0)
			return false;
		if (poll(&p, 1, (int)left) <= 0)
			continue;
		n = read(fd, more, sizeof(more));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return true;
		for (ssize_t i = 0; i < n && used + 1 < size; i++)
			words[used++] = more[i];
		words[used] = '\0';
	}
}

/* On one line: gnuplot shows the offending line and a caret below it, which does not survive in a sentence. */
static char *one_line(char *words)
{
	char *to = words;

	for (char *from = words; *from; from++) {
		char c = *from == '\n' || *from == '\t' ? ' ' : *from;

		if (c == ' ' && (to == words || to[-1] == ' '))
			continue;
		*to++ = c;
	}
	*to = '\0';
	return words;
}

static int judge(int status, char *words, struct err *e)
{
	char clean[WORDS_MAX];

	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_EXEC)
		return err_set(e, -ENOENT, STATUS_IMPOSSIBLE, "gnuplot", "draw the figures",
			       "there is no such program; install gnuplot-nox");
	if (WIFSIGNALED(status))
		return err_set(e, -EIO, STATUS_FAILED, "gnuplot", "draw the figures", "it was ended by signal %d",
			       WTERMSIG(status));
	one_line(words);
	return err_set(e, -EIO, STATUS_FAILED, "gnuplot", "draw the figures", "exit status %d: %s", WEXITSTATUS(status),
		       text_clean(words, strlen(words), clean, sizeof(clean)));
}

static int reap(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

int gnuplot_run(const char *dir, const char *script, struct err *e)
{
	char words[WORDS_MAX];
	int fd[2], status;
	bool ended;
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC))
		return err_sys(e, -errno, "gnuplot", "make a pipe to it");
	pid = fork();
	if (pid < 0) {
		status = -errno;
		close(fd[0]);
		close(fd[1]);
		return err_sys(e, status, "gnuplot", "start it");
	}
	if (!pid)
		become_gnuplot(dir, script, fd[1]);
	setpgid(pid, pid);
	close(fd[1]);
	ended = listen_to(fd[0], words, sizeof(words));
	close(fd[0]);
	if (!ended)
		kill(-pid, SIGKILL);
	status = reap(pid);
	if (!ended)
		return err_set(e, -ETIMEDOUT, STATUS_FAILED, "gnuplot", "draw the figures", "not done after %d s",
			       LIMIT_MS / 1000);
	return judge(status, words, e);
}
