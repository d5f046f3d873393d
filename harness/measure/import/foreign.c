#include "measure/import/foreign.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fill.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/monotonic.h"
#include "common/or_abort.h"
#include "common/spawn.h"
#include "common/sysroot.h"
#include "common/text.h"
#include "measure/run/environment.h"
#include "measure/run/host_state.h"

/* --- the command --- */

/*
 * Another program while it measures: one process group, without standard input, whose output is kept in files, and which
 * ends at the latest after a time limit, on a signal, or when kblat does.
 */

#define FOREIGN_STDOUT	 "stdout"
#define FOREIGN_STDERR	 "stderr"
#define FOREIGN_KEPT	 (1 << 20)   /* bytes of each of its files that stay in the run directory */
#define FOREIGN_READ_MAX (4LL << 30) /* of a standard output that has the samples */

struct foreign_command {
	const char *name;	  /* in messages */
	const char *const *words; /* NULL-terminated */
	const char *dir;	  /* where FOREIGN_STDOUT and FOREIGN_STDERR are made */
	bool reads_stdout;	  /* it has the samples: all of it is stored */
	int64_t limit_ms;
	const volatile sig_atomic_t *interrupted;
};

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

/* Run it. Signals are only unblocked while it is waited for. 0; -EINTR: there was one; or another negative errno and
 * `e`: it could not be started, failed (with the last line of its standard error), or took too long. Its process
 * group has ended in any case. */
static int foreign_command_run(const struct foreign_command *c, struct err *e)
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

#define OUTPUT	  "output" /* the folder in a run directory with what the program wrote */
#define WORDS_MAX 5	   /* in front of a command, to put it into a shield */

struct experiment {
	const struct foreign_request *request;
	struct environment environment;
	char host[MACHINE_NAME_MAX], boot[MACHINE_BOOT_MAX];
};

/* One run of one arm. */
struct foreign_run {
	struct experiment *x;
	const struct foreign_arm *arm;
	struct import_request import;
	struct import i;
	char *output, *file; /* of the run directory; for the samples */
	char **words;
};

size_t foreign_turn(const struct foreign_request *q, size_t i)
{
	return q->arms < 2 ? 0 : (i ^ i / 2) & 1;
}

/* Errors in describing the machine are reported, but do not end the run. */
static void keep_state_of(struct foreign_run *f, const char *when)
{
	const struct foreign_request *q = f->x->request;
	struct err e = ERR_INIT;

	if (!q->no_state && machine_state_keep(f->i.dir.path, f->x->host, when, false, &e)) {
		q->warn(e.text);
		rundir_log(&f->i.dir, "state", json_pack("{s:s}", "error", e.text));
	}
}

static void keep_changes_of(struct foreign_run *f)
{
	struct err e = ERR_INIT;

	if (!f->x->request->no_state &&
	    machine_state_keep_changes(f->i.dir.path, f->x->host, f->x->environment.history, &e))
		rundir_log(&f->i.dir, "state", json_pack("{s:s}", "error", e.text));
}

/* --- the command --- */

/*
 * Another program while it measures: one process group, without standard input, whose output is kept in files, and which
 * ends at the latest after a time limit, on a signal, or when kblat does.
 */

/* `text` with the file in place of FOREIGN_FILE. */
static char *fill_in(const char *text, const char *file)
{
	const struct fill_place place = {FOREIGN_FILE, file};

	return fill_places(text, &place, 1);
}

static bool names_file(const struct foreign_arm *arm)
{
	for (size_t i = 0; arm->words[i]; i++)
		if (strstr(arm->words[i], FOREIGN_FILE))
			return true;
	return false;
}

/* Endpoints are started in a shield of their environment, and so is the command: in the first. */
static const char *shield_of(const struct foreign_run *f)
{
	const json_t *plan = json_object_get(f->x->environment.plans, f->arm->environment ? f->arm->environment : "");

	return json_string_value(json_object_get(json_array_get(json_object_get(plan, "shields"), 0), "name"));
}

static void make_words(struct foreign_run *f)
{
	const char *shield = shield_of(f);
	const char *const inner[] = {f->x->environment.kbtune, "cpuset", "exec", shield, "--"};
	size_t count = 0;

	while (f->arm->words[count])
		count++;
	f->words = or_abort(calloc(count + WORDS_MAX + 1, sizeof(*f->words)));
	count = 0;
	for (size_t i = 0; shield && i < WORDS_MAX; i++)
		f->words[count++] = or_abort(strdup(inner[i]));
	for (size_t i = 0; f->arm->words[i]; i++)
		f->words[count++] = fill_in(f->arm->words[i], f->file);
}

/* --- what it has written --- */

static int is_entry(const struct dirent *d)
{
	return strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0;
}

/* Calls `each` for everything that the program has made. */
static void each_output(struct foreign_run *f,
			void (*each)(struct foreign_run *f, const char *name, const char *path, const struct stat *st))
{
	struct dirent **names = NULL;
	int n = fs_scandir(f->output, &names, is_entry, NULL);

	for (int i = 0; i < n; i++) {
		char *path = fs_path("%s/%s", f->output, names[i]->d_name);
		struct stat st;

		if (!lstat(path, &st))
			each(f, names[i]->d_name, path, &st);
		free(path);
		free(names[i]);
	}
	free(names);
}

/* What is no file, or cannot be read, would not be sealed. */
static void sweep(struct foreign_run *f, const char *name, const char *path, const struct stat *st)
{
	(void)f;
	(void)name;
	if (S_ISDIR(st->st_mode))
		fs_remove_tree(path, NULL);
	else if (!S_ISREG(st->st_mode) || access(path, R_OK))
		unlink(path);
}

/* Of each file, the beginning stays. */
static void cut_short(struct foreign_run *f, const char *name, const char *path, const struct stat *st)
{
	if (st->st_size > FOREIGN_KEPT && !truncate(path, FOREIGN_KEPT))
		rundir_log(&f->i.dir, "cut", json_pack("{s:s, s:I}", "file", name, "bytes", (json_int_t)st->st_size));
}

static int take_what_it_wrote(struct foreign_run *f, struct err *e)
{
	const struct foreign_request *q = f->x->request;
	char *path = q->samples		  ? fill_in(q->samples, f->file)
		     : names_file(f->arm) ? fs_path("%s", f->file)
					  : fs_path("%s/" FOREIGN_STDOUT, f->output);
	struct stat st;
	int rc = 0;

	if (!strncmp(path, f->i.dir.path, strlen(f->i.dir.path)))
		f->i.shown = path + strlen(f->i.dir.path) + 1;
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		rc = err_set(e, -ENOENT, STATUS_FAILED, f->arm->words[0], NULL, "it has not written its samples to %s",
			     f->i.shown ? f->i.shown : path);
	else if (!st.st_size)
		rc = err_set(e, -ENODATA, STATUS_FAILED, f->arm->words[0], NULL, "it printed nothing");
	else
		rc = import_take(&f->i, path, e);
	f->i.reading.path = f->i.shown = NULL; /* of a path that ends here */
	f->i.source = f->arm->words[0];
	free(path);
	return rc;
}

/* --- one run --- */

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int enter_for_arm(struct foreign_run *f, struct err *e)
{
	struct point *p = or_abort(calloc(1, sizeof(*p)));
	int rc;

	json_array_clear(f->x->environment.history);
	snprintf(p->environment, sizeof(p->environment), "%s", f->arm->environment ? f->arm->environment : "");
	rc = environment_enter(&f->x->environment, p, e);
	free(p);
	return rc;
}

static int run_in_environment(struct foreign_run *f, struct err *e)
{
	const struct foreign_request *q = f->x->request;
	const struct foreign_command command = {.name = f->arm->words[0],
						.words = (const char *const *)f->words,
						.dir = f->output,
						.reads_stdout = !q->samples && !names_file(f->arm),
						.limit_ms = q->limit_ms,
						.interrupted = q->interrupted};
	struct err left = ERR_INIT;
	int rc = enter_for_arm(f, e);

	if (!rc)
		rc = foreign_command_run(&command, e);
	if (!rc)
		rc = environment_confirm(&f->x->environment, e);
	if (environment_leave(&f->x->environment, &left))
		q->warn(left.text);
	return rc;
}

static int run_seal(struct foreign_run *f, int failed, int64_t began_ns, const struct err *why, struct err *e)
{
	char *path = NULL;
	int rc;

	f->i.reading.started_ns = began_ns;
	each_output(f, cut_short);
	rc = import_seal(&f->i,
			 !failed	    ? "completed"
			 : failed == -EINTR ? "interrupted"
					    : "failed",
			 failed == -EINTR ? "interrupted by a signal" : why->text, &path, e);
	if (!rc)
		f->x->request->ended(path);
	free(path);
	return rc;
}

static int run_within(struct foreign_run *f, struct err *e)
{
	const int64_t began_ns = now_ns();
	struct err why = ERR_INIT;
	int failed, rc = fs_mkdirs(f->output, e);

	if (rc)
		return rc;
	make_words(f);
	keep_state_of(f, "before");
	failed = run_in_environment(f, &why);
	each_output(f, sweep);
	if (!failed)
		failed = take_what_it_wrote(f, &why);
	keep_state_of(f, "after");
	keep_changes_of(f);
	rc = run_seal(f, failed, began_ns, &why, e);
	if (!rc && failed)
		rc = failed == -EINTR ? failed : err_set(e, failed, STATUS_FAILED, NULL, NULL, "%s", why.text);
	return rc;
}

static int run_arm(struct experiment *x, const struct foreign_arm *arm, struct err *e)
{
	struct foreign_run f = {.x = x, .arm = arm, .import = x->request->import};
	char *out =
	    *arm->name ? fs_path("%s/%s", x->request->import.out, arm->name) : fs_path("%s", x->request->import.out);
	int rc;

	f.import.out = out;
	f.import.host = x->host;
	f.import.boot = *x->boot ? x->boot : NULL;
	f.import.command = arm->words;
	f.import.environment = arm->environment;
	rc = import_create(&f.i, &f.import, e);
	if (!rc) {
		f.output = fs_path("%s/" OUTPUT, f.i.dir.path);
		f.file = fs_path("%s/samples", f.output);
		rc = run_within(&f, e);
	}
	import_free(&f.i);
	for (size_t i = 0; f.words && f.words[i]; i++)
		free(f.words[i]);
	free(f.words);
	free(f.output);
	free(f.file);
	free(out);
	return rc;
}

/* --- all runs --- */

/* Is every environment possible here? Nothing is changed. */
static int plan_environments(struct experiment *x, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < x->request->arms; i++) {
		const char *name = x->request->arm[i].environment;

		if (name && !json_object_get(x->environment.plans, name))
			rc = environment_plan(&x->environment, name, e);
	}
	return rc;
}

/* Signals are only let through while the command runs; one that came meanwhile is noticed here. */
static bool was_interrupted(const struct foreign_request *q)
{
	sigset_t none, old;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, &old);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return *q->interrupted != 0;
}

int foreign_measure(const struct foreign_request *q, struct err *e)
{
	struct experiment x = {.request = q};
	const size_t all = (size_t)q->runs * q->arms;
	int rc;

	environment_open(&x.environment, q->interrupted);
	machine_identify(x.host, x.boot);
	machine_name_folder(x.host);
	rc = plan_environments(&x, e);
	for (size_t i = 0; !rc && i < all && !was_interrupted(q); i++) {
		const struct foreign_arm *arm = &q->arm[foreign_turn(q, i)];

		q->begin(arm, (long)i + 1, (long)all);
		rc = run_arm(&x, arm, e);
	}
	environment_close(&x.environment);
	return rc;
}
