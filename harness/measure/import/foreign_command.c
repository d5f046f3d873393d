#include "measure/import/foreign_command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/monotonic.h"
#include "common/spawn.h"
#include "common/text.h"

#define END_MS	   5000 /* for a program that was asked to end */
#define DRAIN_MS   1000 /* for what it has written before it ended */
#define LOOK_MS	   100
#define LAST_WORDS 200 /* of standard error, in a message */

/* One of its standard streams, on its way into a file. */
struct stream {
	int from, to;
	int64_t most, written;
	bool is_full; /* there was more */
};

struct running {
	const struct foreign_command *command;
	struct stream out, err;
	pid_t pid;
};

/* --- streams --- */

static int stream_open(struct stream *s, const char *dir, const char *name, int64_t most, int *end, struct err *e)
{
	char *path = fs_path("%s/%s", dir, name);
	int fd[2] = {-1, -1}, rc = 0;

	*s = (struct stream){.from = -1, .to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), .most = most};
	if (s->to < 0)
		rc = err_sys(e, -errno, path, "create");
	else if (pipe2(fd, O_CLOEXEC))
		rc = err_sys(e, -errno, path, "make a pipe for");
	s->from = fd[0];
	*end = fd[1];
	free(path);
	return rc;
}

static void stream_close(struct stream *s)
{
	if (s->from >= 0)
		close(s->from);
	if (s->to >= 0)
		close(s->to);
	s->from = s->to = -1;
}

/* Store what there is, as far as there is room. */
static int stream_pump(struct stream *s, struct err *e)
{
	char data[65536];
	const ssize_t n = read(s->from, data, sizeof(data));
	const int64_t room = s->most - s->written, length = n < room ? n : room;
	int rc = 0;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n <= 0) {
		close(s->from);
		s->from = -1;
		return 0;
	}
	s->is_full |= n > room;
	if (length > 0)
		rc = fs_write_fd(s->to, data, (size_t)length);
	s->written += length;
	return rc ? err_sys(e, rc, "the output of the command", "write") : 0;
}

/* Wait until there is something, a signal arrives, or `wait_ms` are over. */
static int pump(struct running *r, int wait_ms, struct err *e)
{
	struct pollfd fds[2] = {{.fd = r->out.from, .events = POLLIN}, {.fd = r->err.from, .events = POLLIN}};
	const struct timespec wait = {.tv_sec = wait_ms / 1000, .tv_nsec = wait_ms % 1000 * 1000000L};
	sigset_t none;
	int rc = 0;

	sigemptyset(&none);
	if (ppoll(fds, 2, &wait, &none) < 0)
		return errno == EINTR ? 0 : err_sys(e, -errno, r->command->name, "wait for");
	if (fds[0].revents)
		rc = stream_pump(&r->out, e);
	if (!rc && fds[1].revents)
		rc = stream_pump(&r->err, e);
	return rc;
}

static bool is_heard_out(const struct running *r)
{
	return r->out.from < 0 && r->err.from < 0;
}

/* --- its end --- */

/* It has ended, and has not been waited for: its process group cannot belong to others yet. */
static bool leader_ended(const struct running *r)
{
	siginfo_t info = {0};

	return !waitid(P_PID, (id_t)r->pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid;
}

/* Until it has ended: 0; it was not given the time, or there was a signal: a negative errno. */
static int await_foreign(struct running *r, struct err *e)
{
	const int64_t deadline = monotonic_ms() + r->command->limit_ms;

	while (!leader_ended(r)) {
		int rc = pump(r, LOOK_MS, e);

		if (rc)
			return rc;
		if (*r->command->interrupted)
			return -EINTR;
		if (r->out.is_full && r->command->reads_stdout)
			return err_set(e, -EFBIG, STATUS_FAILED, r->command->name, NULL,
				       "it printed more than %lld bytes; let it write its samples to a file",
				       (long long)r->out.most);
		if (monotonic_ms() >= deadline)
			return err_set(e, -ETIMEDOUT, STATUS_FAILED, r->command->name, NULL,
				       "it did not end within %g s (--timeout)", (double)r->command->limit_ms / 1000);
	}
	return 0;
}

/* Ends all that is left of its process group, and returns what spawn_await() returns. */
static int end_command(struct running *r)
{
	int64_t deadline = monotonic_ms() + END_MS;

	if (!leader_ended(r))
		kill(-r->pid, SIGTERM);
	while (!leader_ended(r) && monotonic_ms() < deadline && !pump(r, LOOK_MS, NULL))
		;
	kill(-r->pid, SIGKILL);
	deadline = monotonic_ms() + DRAIN_MS;
	while (!is_heard_out(r) && monotonic_ms() < deadline && !pump(r, LOOK_MS, NULL))
		;
	return spawn_await(r->pid);
}

/* The last line that it wrote to standard error, for a message. */
static void last_words(const struct running *r, char *text, size_t size)
{
	char *path = fs_path("%s/" FOREIGN_STDERR, r->command->dir), *all = NULL, *line;
	size_t length = 0;

	text[0] = '\0';
	if (!fs_read(path, FOREIGN_KEPT + 1, &all, &length, NULL)) {
		while (length && strchr("\n\r ", all[length - 1]))
			all[--length] = '\0';
		line = length ? memrchr(all, '\n', length) : NULL;
		line = length ? (line ? line + 1 : all) : NULL;
		if (line && *line)
			text_quote(line, text, size);
	}
	free(all);
	free(path);
}

static int judge_end(const struct running *r, int status, struct err *e)
{
	char words[TEXT_QUOTE_MAX], how[40];

	if (!status)
		return 0;
	last_words(r, words, sizeof(words));
	snprintf(how, sizeof(how), status > 128 ? "was ended by signal %d" : "ended with status %d",
		 status > 128 ? status - 128 : status);
	return err_set(e, -ECHILD, STATUS_FAILED, r->command->name, NULL, "it %s%s%s", how, *words ? ": " : "", words);
}

static int start_command(struct running *r, struct err *e)
{
	const struct foreign_command *c = r->command;
	int out = -1, err = -1, rc;

	rc = stream_open(&r->out, c->dir, FOREIGN_STDOUT, c->reads_stdout ? FOREIGN_READ_MAX : FOREIGN_KEPT, &out, e);
	if (!rc)
		rc = stream_open(&r->err, c->dir, FOREIGN_STDERR, FOREIGN_KEPT, &err, e);
	if (!rc) {
		r->pid = spawn_program(&(struct spawn){
		    .words = c->words, .in = -1, .out = out, .err = err, .end_signal = SIGKILL, .own_group = true});
		rc = r->pid < 0 ? err_sys(e, r->pid, c->name, "start") : 0;
	}
	if (out >= 0)
		close(out);
	if (err >= 0)
		close(err);
	return rc;
}

int foreign_command_run(const struct foreign_command *c, struct err *e)
{
	struct running r = {.command = c, .out = {.from = -1, .to = -1}, .err = {.from = -1, .to = -1}};
	int rc = start_command(&r, e), status;

	if (!rc) {
		rc = await_foreign(&r, e);
		status = end_command(&r);
		rc = rc ? rc : judge_end(&r, status, e);
	}
	stream_close(&r.out);
	stream_close(&r.err);
	return rc;
}
