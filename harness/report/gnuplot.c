#include "report/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/monotonic.h"
#include "common/or_abort.h"
#include "common/spawn.h"
#include "common/text.h"

#define LIMIT_MS 60000 /* per figure */
/* minimum number of figures per process, because starting takes as long as drawing two figures */
#define BATCH	   8
#define OUTPUT_MAX 1024
#define LINE_MAX   128
#define MARK	   "figure " /* beginning of a line that names the next figure */

enum part_state { QUEUED, RUNNING, ENDED };

/* A process and its state. */
struct part {
	struct gnuplot_script *of;
	unsigned number;
	enum part_state state;
	pid_t pid;
	int fd; /* of its output */
	int64_t deadline_ms;
	int start_rc;		 /* it could not be started */
	int status;		 /* of waitpid() */
	bool timed_out;		 /* it was killed */
	char figure[LINE_MAX];	 /* being drawn; "" before the first */
	char output[OUTPUT_MAX]; /* the first output since then */
	char line[LINE_MAX];	 /* the beginning of an incomplete line */
	size_t output_size, line_size;
};

struct gnuplot_script {
	char *dir, *script;
	mode_t mask; /* umask() when it was queued */
	unsigned parts;
	struct part *part;
};

struct gnuplot {
	unsigned cpus, running;
	struct part **queue; /* parts of all scripts, in order */
	size_t count;
};

/* --- processes --- */

static int prepare_part(void *context)
{
	const struct part *p = context;

	setenv("LC_ALL", "C.UTF-8", 1);
	umask(p->of->mask);
	return chdir(p->of->dir) ? -errno : 0;
}

/* -d: no start-up files, so that figures only depend on the tables. */
static int spawn_part(struct part *p, int out)
{
	char *variables = fs_path("part = %u; parts = %u", p->number, p->of->parts);
	const char *const words[] = {"gnuplot", "-d", "-e", variables, p->of->script, NULL};

	p->pid = spawn_program(&(struct spawn){.words = words,
					       .in = -1,
					       .out = out,
					       .err = out,
					       .end_signal = SIGKILL,
					       .own_group = true,
					       .prepare = prepare_part,
					       .context = p});
	free(variables);
	return p->pid < 0 ? p->pid : 0;
}

static void start_part(struct gnuplot *g, struct part *p)
{
	int fd[2];

	p->start_rc = pipe2(fd, O_CLOEXEC) ? -errno : 0;
	if (!p->start_rc) {
		p->start_rc = spawn_part(p, fd[1]);
		close(fd[1]);
		if (p->start_rc)
			close(fd[0]);
	}
	p->state = p->start_rc ? ENDED : RUNNING;
	if (p->state != RUNNING)
		return;
	p->fd = fd[0];
	p->deadline_ms = monotonic_ms() + LIMIT_MS;
	g->running++;
}

static void end_part(struct gnuplot *g, struct part *p)
{
	close(p->fd);
	while (waitpid(p->pid, &p->status, 0) < 0 && errno == EINTR)
		;
	p->state = ENDED;
	g->running--;
}

static void kill_part(struct gnuplot *g, struct part *p)
{
	if (p->state == RUNNING) {
		kill(-p->pid, SIGKILL);
		end_part(g, p);
	}
	p->state = ENDED;
}

/* --- output --- */

static void take_line(struct part *p)
{
	if (!strncmp(p->line, MARK, strlen(MARK))) {
		snprintf(p->figure, sizeof(p->figure), "%s", p->line + strlen(MARK));
		p->deadline_ms = monotonic_ms() + LIMIT_MS;
		p->output_size = 0;
	}
	p->line_size = 0;
}

static void take_byte(struct part *p, char c)
{
	if (p->output_size + 1 < sizeof(p->output))
		p->output[p->output_size++] = c;
	if (c != '\n' && p->line_size + 1 < sizeof(p->line))
		p->line[p->line_size++] = c;
	p->line[p->line_size] = '\0';
	if (c == '\n')
		take_line(p);
	p->output[p->output_size] = '\0';
}

static void read_part(struct gnuplot *g, struct part *p)
{
	char more[4096];
	ssize_t n = read(p->fd, more, sizeof(more));

	if (n < 0 && errno == EINTR)
		return;
	for (ssize_t i = 0; i < n; i++)
		take_byte(p, more[i]);
	if (n <= 0)
		end_part(g, p);
}

/* --- the queue --- */

static void start_some(struct gnuplot *g)
{
	for (size_t i = 0; i < g->count && g->running < g->cpus; i++)
		if (g->queue[i]->state == QUEUED)
			start_part(g, g->queue[i]);
}

static void drop_ended(struct gnuplot *g)
{
	size_t kept = 0;

	for (size_t i = 0; i < g->count; i++)
		if (g->queue[i]->state != ENDED)
			g->queue[kept++] = g->queue[i];
	g->count = kept;
}

static void check_deadlines(struct gnuplot *g)
{
	int64_t now = monotonic_ms();

	for (size_t i = 0; i < g->count; i++) {
		struct part *p = g->queue[i];

		p->timed_out = p->state == RUNNING && now >= p->deadline_ms;
		if (p->timed_out)
			kill_part(g, p);
	}
}

/* Milliseconds until the first deadline. */
static int time_left(const struct gnuplot *g)
{
	int64_t first = monotonic_ms() + LIMIT_MS;

	for (size_t i = 0; i < g->count; i++)
		if (g->queue[i]->state == RUNNING && g->queue[i]->deadline_ms < first)
			first = g->queue[i]->deadline_ms;
	first -= monotonic_ms();
	return first > 0 ? (int)first : 0;
}

/* Wait until at least one running process has output. */
static void work_on(struct gnuplot *g)
{
	struct pollfd *fds = or_abort(calloc(g->count + 1, sizeof(*fds)));

	start_some(g);
	for (size_t i = 0; i < g->count; i++)
		fds[i] = (struct pollfd){.fd = g->queue[i]->state == RUNNING ? g->queue[i]->fd : -1, .events = POLLIN};
	if (g->running && poll(fds, g->count, time_left(g)) > 0)
		for (size_t i = 0; i < g->count; i++)
			if (fds[i].revents)
				read_part(g, g->queue[i]);
	free(fds);
	check_deadlines(g);
	drop_ended(g);
}

struct gnuplot *gnuplot_open(void)
{
	struct gnuplot *g = or_abort(calloc(1, sizeof(*g)));
	cpu_set_t set;

	g->cpus = sched_getaffinity(0, sizeof(set), &set) ? 1 : (unsigned)CPU_COUNT(&set);
	return g;
}

void gnuplot_close(struct gnuplot *g)
{
	free(g->queue);
	free(g);
}

struct gnuplot_script *gnuplot_draw(struct gnuplot *g, const char *dir, const char *script, size_t figures)
{
	struct gnuplot_script *s = or_abort(calloc(1, sizeof(*s)));
	size_t batches = (figures + BATCH - 1) / BATCH;

	s->dir = fs_path("%s", dir);
	s->script = fs_path("%s", script);
	s->mask = umask(077);
	umask(s->mask);
	s->parts = batches < g->cpus ? (unsigned)batches : g->cpus;
	s->part = or_abort(calloc(s->parts + 1, sizeof(*s->part)));
	for (unsigned i = 0; i < s->parts; i++) {
		s->part[i] = (struct part){.of = s, .number = i};
		g->queue = grow_or_abort(g->queue, g->count, sizeof(*g->queue));
		g->queue[g->count++] = &s->part[i];
	}
	start_some(g);
	return s;
}

/* --- results --- */

/* Put the message on one line: gnuplot prints the offending line with a caret below it, which makes
 * no sense inside a sentence. */
static char *one_line(char *text)
{
	char *to = text;

	for (char *from = text; *from; from++) {
		char c = *from == '\n' || *from == '\t' ? ' ' : *from;

		if (c == ' ' && (to == text || to[-1] == ' '))
			continue;
		*to++ = c;
	}
	*to = '\0';
	return text;
}

static bool has_failed(const struct part *p)
{
	return p->state == ENDED && (p->start_rc || p->timed_out || p->status);
}

static int failure_of_part(struct part *p, struct err *e)
{
	char clean[OUTPUT_MAX], what[LINE_MAX + 16];

	snprintf(what, sizeof(what), *p->figure ? "draw figure %s" : "draw the figures", p->figure);
	if (p->start_rc == -ENOENT)
		return err_set(e, -ENOENT, STATUS_IMPOSSIBLE, "gnuplot", what,
			       "there is no such program; install gnuplot-nox");
	if (p->start_rc)
		return err_sys(e, p->start_rc, "gnuplot", "start it");
	if (p->timed_out)
		return err_set(e, -ETIMEDOUT, STATUS_FAILED, "gnuplot", what, "not done after %d s", LIMIT_MS / 1000);
	if (WIFSIGNALED(p->status))
		return err_set(e, -EIO, STATUS_FAILED, "gnuplot", what, "it was ended by signal %d",
			       WTERMSIG(p->status));
	one_line(p->output);
	return err_set(e, -EIO, STATUS_FAILED, "gnuplot", what, "exit status %d: %s", WEXITSTATUS(p->status),
		       text_clean(p->output, strlen(p->output), clean, sizeof(clean)));
}

static struct part *find_failed(const struct gnuplot_script *s)
{
	for (unsigned i = 0; i < s->parts; i++)
		if (has_failed(&s->part[i]))
			return &s->part[i];
	return NULL;
}

static bool is_done(const struct gnuplot_script *s)
{
	for (unsigned i = 0; i < s->parts; i++)
		if (s->part[i].state != ENDED)
			return false;
	return true;
}

int gnuplot_wait(struct gnuplot *g, struct gnuplot_script *s, struct err *e)
{
	struct part *failed;
	int rc;

	while (!(failed = find_failed(s)) && !is_done(s))
		work_on(g);
	rc = failed ? failure_of_part(failed, e) : 0;
	for (unsigned i = 0; i < s->parts; i++)
		kill_part(g, &s->part[i]);
	drop_ended(g);
	free(s->dir);
	free(s->script);
	free(s->part);
	free(s);
	return rc;
}
