#include "measure/run/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/monotonic.h"
#include "common/or_abort.h"
#include "common/spawn.h"
#include "common/version.h"
#include "common/wire.h"
#include "measure/run/transfer.h"

/* a login on another host may take long, and so may starting on a machine that is being tuned */
#define HELLO_MS      60000
#define PATIENCE_MS   30000
#define MAX_ARGUMENTS 64
#define MAX_INNER     8

int channel_split(char *text, char **words, size_t max, struct err *e)
{
	size_t count = 0;
	char *to = text, quote = '\0';

	for (char *p = text; *p;) {
		while (*p == ' ' || *p == '\t')
			p++;
		if (!*p)
			break;
		if (count + 1 == max)
			return err_set(e, -E2BIG, STATUS_USAGE, "command", NULL, "has more than %zu words", max - 1);
		words[count++] = to;
		for (; *p && (quote || (*p != ' ' && *p != '\t')); p++) {
			if (quote ? *p == quote : *p == '\'' || *p == '"')
				quote = quote ? '\0' : *p;
			else
				*to++ = *p;
		}
		if (*p)
			p++;
		*to++ = '\0';
	}
	if (quote)
		return err_set(e, -EINVAL, STATUS_USAGE, "command", NULL, "a quote (%c) is not closed", quote);
	return (int)count;
}

/* `program`: what is executed, if it is not the first of the words; or NULL. */
static int start_process(struct channel *c, const char *program, char *const *words, struct err *e)
{
	int in[2], out[2], errors[2], rc = -ENFILE;

	if (pipe2(in, O_CLOEXEC))
		return err_sys(e, -errno, c->name, "make a pipe for");
	if (pipe2(out, O_CLOEXEC))
		goto no_out;
	if (pipe2(errors, O_CLOEXEC))
		goto no_stderr;
	/* It ends when its input does. */
	rc = spawn_program(&(struct spawn){.words = (const char *const *)words,
					   .program = program,
					   .in = in[0],
					   .out = out[1],
					   .err = errors[1],
					   .own_group = true});
	close(errors[1]);
	wire_init(&c->errors, errors[0]);
	fcntl(errors[0], F_SETFL, O_NONBLOCK);
	c->pid = rc < 0 ? 0 : rc;
no_stderr:
	close(out[1]);
	wire_init(&c->from, out[0]);
no_out:
	close(in[0]);
	c->to = in[1];
	fcntl(c->to, F_SETFL, O_NONBLOCK);
	return rc < 0 ? err_sys(e, rc, words[0], "start") : 0;
}

static void read_stderr(struct channel *c)
{
	char text[4096];
	size_t n;

	if (wire_fill(&c->errors))
		c->errors.eof = true;
	while ((n = wire_take_raw(&c->errors, text, sizeof(text)))) {
		size_t keep = n > STDERR_TAIL ? STDERR_TAIL : n;
		size_t old = c->stderr_length;

		if (old + keep > STDERR_TAIL) {
			size_t excess = old + keep - STDERR_TAIL;

			memmove(c->stderr_tail, c->stderr_tail + excess, old - excess);
			old -= excess;
		}
		memcpy(c->stderr_tail + old, text + n - keep, keep);
		c->stderr_length = old + keep;
		c->stderr_tail[c->stderr_length] = '\0';
	}
}

/* The endpoint's last two lines on stderr, as one line. */
static const char *stderr_lines(struct channel *c, char *buf, size_t size)
{
	size_t n = c->stderr_length;
	unsigned lines = 0;
	size_t start;

	while (n && (c->stderr_tail[n - 1] == '\n' || c->stderr_tail[n - 1] == '\r'))
		n--;
	for (start = n; start; start--)
		if (c->stderr_tail[start - 1] == '\n' && ++lines == 2)
			break;
	snprintf(buf, size, "%.*s", (int)(n - start), c->stderr_tail + start);
	for (char *p = buf; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 127)
			*p = *p == '\n' ? '|' : ' ';
	return buf;
}

static const char *how_it_ended(pid_t pid, char *buf, size_t size)
{
	siginfo_t info = {0};

	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == 0)
		snprintf(buf, size, "closed its output");
	else if (info.si_code == CLD_EXITED)
		snprintf(buf, size, "ended with status %d", info.si_status);
	else
		snprintf(buf, size, "was killed by signal %d (%s)", info.si_status, strsignal(info.si_status));
	return buf;
}

/* The pipe is closed slightly before the exited process can be waited for. */
static void await_exit(pid_t pid, int64_t patience_ms)
{
	int64_t deadline = monotonic_ms() + patience_ms;
	siginfo_t info = {0};

	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0 &&
	       monotonic_ms() < deadline)
		usleep(200);
}

static int complain_ended(struct channel *c, struct err *e)
{
	char how[128], words[512], object[64];

	await_exit(c->pid, 500);
	read_stderr(c);
	stderr_lines(c, words, sizeof(words));
	snprintf(object, sizeof(object), "%s endpoint", c->name);
	return err_set(e, -EPIPE, STATUS_FAILED, object, NULL, "%s in the middle; its standard error ends in: %s",
		       how_it_ended(c->pid, how, sizeof(how)), *words ? words : "(none)");
}

static int complain_nonsense(struct channel *c, const char *line, const char *why, struct err *e)
{
	char shown[81], object[64];

	snprintf(shown, sizeof(shown), "%s", line);
	for (char *p = shown; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 127)
			*p = '?';
	snprintf(object, sizeof(object), "%s endpoint", c->name);
	return err_set(e, -EPROTO, STATUS_FAILED, object, NULL, "sent what is not a message (%s): %s", why, shown);
}

static int take_message(struct channel *c, json_t **message, struct err *e)
{
	json_error_t why;
	char *line;
	int rc = wire_take_line(&c->from, &line);

	if (rc < 0)
		return complain_nonsense(c, "(a line without end)", strerror(-rc), e);
	if (rc == 0)
		return c->from.eof ? complain_ended(c, e) : 0;
	*message = json_loads(line, JSON_REJECT_DUPLICATES, &why);
	if (!json_is_string(json_object_get(*message, "type"))) {
		rc = complain_nonsense(c, line, *message ? "no type" : why.text, e);
		json_decref(*message);
		*message = NULL;
	}
	free(line);
	return rc;
}

/* Take a line that has already arrived, from the first channel that has one. Returns the same as
 * channel_wait(). */
static int take_any(struct channel *const *channels, size_t count, size_t *who, json_t **message, struct err *e)
{
	int rc = 0;

	for (*who = 0; *who < count; ++*who) {
		rc = take_message(channels[*who], message, e);
		if (rc)
			break;
	}
	return rc;
}

static void fill_any(struct channel *const *channels, size_t count, const struct pollfd *fds)
{
	for (size_t i = 0; i < count; i++) {
		if (fds[2 * i + 1].revents)
			read_stderr(channels[i]);
		if (fds[2 * i].revents && wire_fill(&channels[i]->from))
			channels[i]->from.eof = true;
	}
}

static int wait_with(struct pollfd *fds, struct channel *const *channels, size_t count, int64_t deadline_ms,
		     size_t *who, json_t **message, struct err *e)
{
	sigset_t none;

	sigemptyset(&none); /* signals are only unblocked while waiting, so that none is missed just before */
	for (;;) {
		int64_t left = deadline_ms < 0 ? -1 : deadline_ms - monotonic_ms();
		int rc = take_any(channels, count, who, message, e);

		if (rc)
			return rc;
		if (deadline_ms >= 0 && left < 0)
			return 0;
		for (size_t i = 0; i < count; i++) {
			const struct channel *c = channels[i];

			fds[2 * i] = (struct pollfd){c->from.fd, POLLIN, 0};
			fds[2 * i + 1] = (struct pollfd){c->errors.eof ? -1 : c->errors.fd, POLLIN, 0};
		}
		struct timespec ts = {left / 1000, left % 1000 * 1000000};

		if (ppoll(fds, 2 * count, left < 0 ? NULL : &ts, &none) < 0)
			return -errno;
		fill_any(channels, count, fds);
	}
}

int channel_wait(struct channel *const *channels, size_t count, int64_t deadline_ms, size_t *who, json_t **message,
		 struct err *e)
{
	struct pollfd *fds = or_abort(calloc(2 * count, sizeof(*fds)));
	int rc = wait_with(fds, channels, count, deadline_ms, who, message, e);

	free(fds);
	return rc;
}

/* Whoever interrupts a run does not wait for hosts that are silent. */
static int64_t hurry(const struct channel *c, int64_t deadline_ms)
{
	const int64_t soon_ms = monotonic_ms() + CHANNEL_HURRY_MS;

	return c->interrupted && *c->interrupted && soon_ms < deadline_ms ? soon_ms : deadline_ms;
}

int channel_await(struct channel *c, int64_t patience_ms, json_t **message, struct err *e)
{
	int64_t deadline_ms = hurry(c, monotonic_ms() + patience_ms);
	size_t who;
	int rc;

	while ((rc = channel_wait((struct channel *const[]){c}, 1, deadline_ms, &who, message, e)) == -EINTR)
		deadline_ms = hurry(c, deadline_ms);
	return rc;
}

/* Wait for more of a transfer. 0 (also at the end of its output), or a negative errno and `e`. */
static int await_piece(struct channel *c, const struct transfer *t, struct err *e)
{
	const int64_t left = transfer_left_ms(t), most = left < c->patience_ms ? left : c->patience_ms;
	const struct timespec limit = {most / 1000, most % 1000 * 1000000};
	struct pollfd fd = {c->from.fd, POLLIN, 0};
	sigset_t none;
	int rc;

	if (left <= 0)
		return transfer_complain(t, c->name, e);
	sigemptyset(&none); /* a second signal ends this process, even if the other side is slow */
	rc = ppoll(&fd, 1, &limit, &none);
	if (rc == 0 && most < left)
		return err_set(e, -ETIMEDOUT, STATUS_FAILED, c->name, NULL,
			       "has sent nothing for %lld s in the middle of data", (long long)most / 1000);
	if (rc > 0 && wire_fill(&c->from))
		c->from.eof = true;
	return 0;
}

int channel_raw(struct channel *c, struct transfer *t, size_t size,
		int (*take)(void *arg, const void *data, size_t size, struct err *e), void *arg, struct err *e)
{
	int rc = 0;

	while (!rc && size) {
		char piece[65536];
		size_t n = wire_take_raw(&c->from, piece, size < sizeof(piece) ? size : sizeof(piece));

		size -= n;
		t->taken += n;
		if (n)
			rc = take(arg, piece, n, e);
		else
			rc = c->from.eof ? complain_ended(c, e) : await_piece(c, t, e);
	}
	return rc;
}

/* Wait until an order can be written. 0 or -ETIMEDOUT. */
static int await_room(struct channel *c, int64_t deadline_ms)
{
	const int64_t left = deadline_ms - monotonic_ms();
	const struct timespec limit = {left / 1000, left % 1000 * 1000000};
	struct pollfd fd = {c->to, POLLOUT, 0};
	sigset_t none;

	sigemptyset(&none);
	return left <= 0 || ppoll(&fd, 1, &limit, &none) == 0 ? -ETIMEDOUT : 0;
}

/* The descriptor does not block, because an endpoint that does not read would hold this process up. */
static int write_order(struct channel *c, const char *text, size_t size)
{
	const int64_t deadline_ms = monotonic_ms() + c->patience_ms;
	int rc = 0;

	while (!rc && size) {
		const ssize_t n = write(c->to, text, size);

		if (n >= 0) {
			text += n;
			size -= (size_t)n;
		} else if (errno == EAGAIN) {
			rc = await_room(c, deadline_ms);
		} else if (errno != EINTR) {
			rc = -errno;
		}
	}
	return rc;
}

int channel_send(struct channel *c, json_t *order, struct err *e)
{
	size_t size;
	char *text = wire_line(order, &size);
	int rc = write_order(c, text, size);

	free(text);
	json_decref(order);
	if (rc == -ETIMEDOUT)
		return err_set(e, rc, STATUS_FAILED, c->name, NULL, "endpoint has not read its orders for %lld s",
			       (long long)c->patience_ms / 1000);
	return rc ? complain_ended(c, e) : 0;
}

int channel_check_hello(const json_t *hello, const char *name, struct err *e)
{
	const json_int_t protocol = json_integer_value(json_object_get(hello, "protocol"));
	const char *host = json_text_or(hello, "host", "?"), *version = json_text_or(hello, "version", "?");
	const char *order = json_text_or(hello, "byte_order", "?");

	if (strcmp(json_text(hello, "type"), "hello") || protocol != WIRE_PROTOCOL)
		return err_set(e, -EPROTO, STATUS_FAILED, name, NULL,
			       "the endpoint on %.64s speaks protocol %lld, not %d; use the same kblat on both hosts",
			       host, (long long)protocol, WIRE_PROTOCOL);
	if (strcmp(order, WIRE_BYTE_ORDER))
		return err_set(
		    e, -EPROTO, STATUS_FAILED, name, NULL,
		    "the host %.64s is %.16s-endian, this one is %s-endian: both must have the same byte order", host,
		    order, WIRE_BYTE_ORDER);
	if (strcmp(version, kblat_version))
		return err_set(e, -EPROTO, STATUS_FAILED, name, NULL,
			       "the endpoint on %.64s is kblat %.32s, this one is %s; use the same kblat on both hosts",
			       host, version, kblat_version);
	return 0;
}

int channel_greet(struct channel *c, struct err *e)
{
	const int64_t began_ms = monotonic_ms();
	size_t who;
	int rc = channel_wait((struct channel *const[]){c}, 1, hurry(c, began_ms + HELLO_MS), &who, &c->hello, e);

	if (rc < 0)
		return rc;
	if (rc == 0)
		return err_set(e, -ETIMEDOUT, STATUS_FAILED, c->name, NULL,
			       "endpoint has not reported within %lld s of its start",
			       (long long)(monotonic_ms() - began_ms) / 1000);
	return channel_check_hello(c->hello, c->name, e);
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void channel_init(struct channel *c, const char *name)
{
	memset(c, 0, sizeof(*c));
	c->name = name;
	c->patience_ms = PATIENCE_MS;
	c->to = c->from.fd = c->errors.fd = -1;
}

int channel_spawn(struct channel *c, const char *name, char *const *words, struct err *e)
{
	channel_init(c, name);
	return start_process(c, NULL, words, e);
}

#define DELETED " (deleted)"

/* The path of this program, on this and other hosts. True if there is another file by now: this
 * program was replaced while it runs, by an upgrade for example. */
static bool find_self(char *path, size_t size)
{
	const size_t suffix = strlen(DELETED);
	ssize_t n = readlink("/proc/self/exe", path, size - 1);
	size_t length = n > 0 ? (size_t)n : 0;
	bool is_replaced = false;

	path[length] = '\0';
	if (length > suffix && !strcmp(path + length - suffix, DELETED)) {
		path[length - suffix] = '\0';
		is_replaced = true;
	}
	return is_replaced;
}

/* An endpoint must be the same program as this one. Where it runs on this machine for certain, it is
 * executed from this process; a launcher may lead to another host, where the path is all that is known. */
int channel_start(struct channel *c, const char *name, const char *launcher, const char *const *inner, struct err *e)
{
	char self[4096], running[32], *words[MAX_ARGUMENTS];
	char *prefix = or_abort(strdup(launcher ? launcher : ""));
	const bool is_replaced = find_self(self, sizeof(self));
	int count, rc;

	channel_init(c, name);
	snprintf(running, sizeof(running), "/proc/%d/exe", (int)getpid());
	count = channel_split(prefix, words, MAX_ARGUMENTS - 2 - MAX_INNER, e);
	rc = count < 0 ? count : 0;
	if (!rc) {
		const bool is_here = count == 0, is_direct = is_here && !(inner && inner[0]);

		for (int i = 0; inner && inner[i] && i < MAX_INNER; i++)
			words[count++] = (char *)inner[i];
		words[count] = is_replaced && is_here && !is_direct ? running : self;
		words[count + 1] = (char[]){"endpoint"};
		words[count + 2] = NULL;
		rc = start_process(c, is_direct ? "/proc/self/exe" : NULL, words, e);
	}
	free(prefix);
	return rc;
}

void channel_end_input(struct channel *c)
{
	close_fd(c->to);
	c->to = -1;
}

bool channel_lives(const struct channel *c)
{
	siginfo_t info = {0};

	return c->pid > 0 && !waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) && !info.si_pid;
}

int channel_ended(struct channel *c, char *words, size_t size)
{
	siginfo_t info = {0};
	size_t n;

	await_exit(c->pid, 500);
	read_stderr(c);
	n = c->stderr_length;
	while (n && c->stderr_tail[n - 1] == '\n')
		n--;
	snprintf(words, size, "%.*s", (int)n, c->stderr_tail);
	if (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid)
		return -1;
	return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
}

static void reap(struct channel *c, int64_t patience_ms)
{
	await_exit(c->pid, patience_ms);
	kill(-c->pid, SIGKILL); /* the rest of its process group, including a launcher's other processes */
	waitpid(c->pid, NULL, 0);
}

void channel_stop(struct channel *c, int64_t patience_ms)
{
	close_fd(c->to);
	if (c->pid > 0)
		reap(c, patience_ms);
	close_fd(c->from.fd);
	close_fd(c->errors.fd);
	wire_free(&c->from);
	wire_free(&c->errors);
	json_decref(c->hello);
	channel_init(c, c->name);
}

#define ANSWER_MS 60000 /* may be long on a busy machine */

int channel_ask(struct channel *c, json_t *order, const char *answer, json_t **reply, struct err *e)
{
	const int64_t began_ms = monotonic_ms();
	char asked[40];
	int rc, status;

	snprintf(asked, sizeof(asked), "%s", json_text(order, "type"));
	rc = channel_send(c, order, e);
	if (rc)
		return rc;
	rc = channel_await(c, ANSWER_MS, reply, e);
	if (rc == 0)
		return err_set(e, -ETIMEDOUT, STATUS_FAILED, c->name, NULL, "endpoint has not answered '%s' for %lld s",
			       asked, (long long)(monotonic_ms() - began_ms) / 1000);
	if (rc < 0)
		return rc;
	if (!strcmp(json_text(*reply, "type"), answer))
		return 0;
	status = (int)json_integer_value(json_object_get(*reply, "status"));
	rc = err_set(e, -EPROTO, status == STATUS_IMPOSSIBLE ? STATUS_IMPOSSIBLE : STATUS_FAILED, c->name, NULL,
		     "endpoint cannot '%s': %s", asked, json_text_or(*reply, "text", "it sent a different answer"));
	json_decref(*reply);
	*reply = NULL;
	return rc;
}
