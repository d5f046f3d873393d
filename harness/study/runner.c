#include "study/runner.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/monotonic.h"
#include "common/or_abort.h"
#include "common/spawn.h"
#include "common/text.h"
#include "judge/analysis/summary_json.h"
#include "study/study_record.h"

#define PRINTED_MAX ((size_t)256 << 20)
#define WHY_MAX	    300

struct runner_slot {
	pid_t pid; /* 0: nothing is running here */
	size_t cell;
	int out, complaints; /* what it prints is kept in memory; -1: its complaints are printed */
	int64_t began_ms;
};

/* --- signals --- */

static volatile sig_atomic_t interrupted;   /* the last signal that asked to end; 0: none */
static volatile pid_t running[RUNNER_MOST]; /* 0: none; signals are blocked while it changes */

static void pass_on(int signal_number)
{
	for (size_t i = 0; i < RUNNER_MOST; i++)
		if (running[i] > 0)
			kill(running[i], signal_number);
}

static void on_interrupt(int signal_number)
{
	interrupted = signal_number;
	pass_on(SIGINT);
}

/* Ask the runs to print their progress. */
static void ask_progress(int signal_number)
{
	pass_on(signal_number);
}

void runner_catch_signals(void)
{
	static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
	const struct sigaction sa = {.sa_handler = on_interrupt};

	for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		sigaction(caught[i], &sa, NULL);
	sigaction(SIGUSR1, &(struct sigaction){.sa_handler = ask_progress, .sa_flags = SA_RESTART}, NULL);
}

bool runner_is_interrupted(void)
{
	return interrupted != 0;
}

bool runner_is_interrupted_by_user(void)
{
	return interrupted == SIGINT;
}

static void block_signals(sigset_t *old)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, old);
}

/* Replace `old` by `pid`, if `old` is in the list. */
static void running_set(pid_t old, pid_t pid)
{
	size_t i = 0;

	while (i < RUNNER_MOST && running[i] != old)
		i++;
	if (i < RUNNER_MOST)
		running[i] = pid;
}

/* --- the arguments of a run --- */

static void add_option(struct words *w, const char *flag, char *value)
{
	words_add(w, fs_path("%s", flag));
	words_add(w, value);
}

/* A text of the study, with what differs between hosts filled in. */
static char *filled(const struct study *s, const struct cell *c, const char *text, const size_t *side)
{
	const struct study_host *host = s->hosts.item;

	return c->name ? fs_path("%s", text)
		       : study_hosts_fill(text, &host[c->source], &host[c->sink], side ? &host[*side] : NULL);
}

static void add_launchers(struct words *w, const struct study *s, const struct cell *c)
{
	const struct study_options *o = &s->options;

	if (o->source)
		add_option(w, "--source", filled(s, c, o->source, &c->source));
	if (o->sink)
		add_option(w, "--sink", filled(s, c, o->sink, &c->sink));
}

/* Profiles of environments are in the study's directory, so that no other one of that name is applied. */
static void add_environment(struct words *w, const struct study *s, const struct cell *c)
{
	if (c->environment) {
		add_option(w, "--set", fs_path("environment=%s", c->environment));
		add_option(w, "--profile-path", fs_path("%s/profiles", s->path));
	} else if (s->options.profile_path) {
		add_option(w, "--profile-path", fs_path("%s", s->options.profile_path));
	}
}

static char *out_of(const struct study *s, const struct cell *c)
{
	if (!s->kind->runs)
		return fs_path("%s", s->path);
	return s->kind->by_name ? fs_path("%s/%s/%s", s->path, s->kind->runs, c->name)
				: fs_path("%s/%s", s->path, s->kind->runs);
}

struct words runner_words(const struct study *s, const struct cell *c)
{
	const struct study_options *o = &s->options;
	const struct study_request *r = s->request;
	const struct {
		bool given;
		const char *flag;
	} flags[] = {{o->quick, "--quick"},
		     {o->mask, "--mask"},
		     {o->no_state, "--no-state"},
		     {s->kind->quiet || (r && r->quiet), "--quiet"},
		     {!s->kind->quiet && r && r->verbose, "--verbose"}};
	struct words w = {NULL, 0};

	words_add(&w, fs_path("kblat"));
	words_add(&w, fs_path("run"));
	words_add(&w, fs_path("%s", c->spec ? c->spec : s->spec));
	add_option(&w, "--out", out_of(s, c));
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (flags[i].given)
			words_add(&w, fs_path("%s", flags[i].flag));
	for (size_t i = 0; i < o->set.count; i++)
		add_option(&w, "--set", filled(s, c, o->set.word[i], NULL));
	for (size_t i = 0; i < c->set.count; i++)
		add_option(&w, "--set", fs_path("%s", c->set.word[i]));
	for (size_t i = 0; i < o->only.count; i++)
		add_option(&w, "--only", fs_path("%s", o->only.word[i]));
	add_launchers(&w, s, c);
	add_environment(&w, s, c);
	return w;
}

/* Not shortened, because users must see which commands are started. */
static void show_text(const char *meaning, const char *text)
{
	char *whole;

	if (!text || !*text)
		return;
	whole = or_abort(malloc(strlen(text) + 1));
	fprintf(stderr, "kblat: %s '%s'\n", meaning, text_clean(text, strlen(text), whole, strlen(text) + 1));
	free(whole);
}

static void show_texts(const char *meaning, const struct words *w)
{
	for (size_t i = 0; i < w->count; i++)
		show_text(meaning, w->word[i]);
}

void runner_show_brought(const struct study *s)
{
	const struct study_options *o = &s->options;
	bool own_spec = false;

	show_text("source endpoints will be started by", o->source);
	show_text("sink endpoints will be started by", o->sink);
	show_text("profiles will be searched in", o->profile_path);
	show_texts("every run has --set", &o->set);
	show_texts("every run has --only", &o->only);
	for (size_t i = 0; i < s->count; i++) {
		const struct cell *c = &s->cell[i];

		own_spec |= c->spec != NULL;
		if (!c->spec || !cell_is_left(c))
			continue;
		show_text("a spec is", c->spec);
		show_texts("its runs have --set", &c->set);
	}
	if (!own_spec)
		show_text("a spec is", s->spec);
}

void runner_show_profile(const char *file, const char *text)
{
	show_text("kbtune will apply the profile, or parts of it, in", file);
	for (size_t n; *text; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		char *line = or_abort(strndup(text, n));

		show_text("  it has", line);
		free(line);
	}
}

/* --- the end of a run --- */

/* All that a file has, without newlines at its end; NULL: nothing can be read. */
static char *printed(int fd)
{
	char *text = NULL;
	size_t size = 0;

	if (lseek(fd, 0, SEEK_SET) < 0 || fs_read_fd(fd, PRINTED_MAX, &text, &size))
		return NULL;
	while (size && text[size - 1] == '\n')
		text[--size] = '\0';
	return text;
}

/* Cuts the last line off, and returns it. */
static const char *last_line(char *text)
{
	char *newline = strrchr(text, '\n');

	if (!newline)
		return text;
	*newline = '\0';
	return newline + 1;
}

/* The last line names the run directory, if there is one below the study's; otherwise it is like the others. */
static void take_printed(struct runner *r, struct cell *c, int out)
{
	const size_t length = strlen(r->s->path);
	char *text = printed(out);
	const char *line = text ? last_line(text) : "";
	char *file = fs_path("%s/run.json", line);

	if (!strncmp(line, r->s->path, length) && line[length] == '/' && !access(file, F_OK))
		c->run = fs_path("%s", line + length + 1);
	if (r->echo && text && line != text)
		fprintf(r->echo, "%s\n", text);
	if (r->echo && *line && !c->run)
		fprintf(r->echo, "%s\n", line);
	if (r->echo)
		fflush(r->echo);
	free(file);
	free(text);
}

/* Of a point the first series, which represents it. */
static struct cell_point cell_numbers(const struct summary_point *p)
{
	const struct summary_metric *first = p->results.metric_count ? p->results.metrics : NULL;
	const char *reason = json_string_value(json_array_get(p->reasons, 0));

	return (struct cell_point){.id = p->id,
				   .metric = fs_path("%s", first ? first->name : ""),
				   .why = fs_path("%s", *p->why || !reason ? p->why : reason),
				   .p50 = first ? number_value(first->values[STATISTIC_P50]) : NAN,
				   .p99 = first ? number_value(first->values[STATISTIC_P99]) : NAN,
				   .valid = p->valid};
}

static void take_points(const struct study *s, struct cell *c)
{
	char *path = fs_path("%s/%s/summary.json", s->path, c->run ? c->run : ".");
	json_t *j = c->run && s->kind->numbers ? json_read(path, NULL) : NULL;
	struct summary *summary = summary_decode(j);

	cell_clear_points(c);
	for (size_t i = 0; i < summary->point_count; i++) {
		c->point = grow_or_abort(c->point, c->point_count, sizeof(*c->point));
		c->point[c->point_count++] = cell_numbers(&summary->points[i]);
	}
	summary_free(summary);
	json_decref(j);
	free(path);
}

/* Truncated between characters, because JSON does not accept partial ones. */
static void set_state_cut(struct cell *c, enum cell_state state, const char *why)
{
	char cut[WHY_MAX + 1];

	cell_set_state(c, state, text_clean(why, strlen(why), cut, sizeof(cut)));
}

/* Why a run failed whose complaints were kept: its first point that was not completed, otherwise its last complaint. */
static void fail_apart(struct cell *c, enum cell_state state, int complaints)
{
	char *text = printed(complaints);
	size_t i = 0;

	while (i < c->point_count && !*c->point[i].why)
		i++;
	set_state_cut(c, state, i < c->point_count ? c->point[i].why : text ? last_line(text) : "");
	free(text);
}

/* What an exit status means for a cell. A run that measured is completed, valid or not. */
static void conclude_cell(struct cell *c, int status, int complaints)
{
	char why[64];

	c->exit_status = status;
	snprintf(why, sizeof(why), status > 128 ? "ended by signal %d" : "exit status %d",
		 status > 128 ? status - 128 : status);
	if ((status == STATUS_OK || status == STATUS_NO) && c->run)
		cell_set_state(c, CELL_COMPLETED, "");
	else if (runner_is_interrupted())
		cell_set_state(c, CELL_INTERRUPTED, "by a signal");
	else if (complaints >= 0)
		fail_apart(c, status == STATUS_IMPOSSIBLE ? CELL_IMPOSSIBLE : CELL_FAILED, complaints);
	else if (status == STATUS_IMPOSSIBLE)
		cell_set_state(c, CELL_IMPOSSIBLE, "not possible on this machine");
	else
		cell_set_state(c, CELL_FAILED, why);
}

static void slot_free(struct runner_slot *slot)
{
	if (slot->out >= 0)
		close(slot->out);
	if (slot->complaints >= 0)
		close(slot->complaints);
	*slot = (struct runner_slot){.out = -1, .complaints = -1};
}

static int end_cell(struct runner *r, struct runner_slot *slot, int status, struct err *e)
{
	const size_t i = slot->cell;
	struct cell *c = &r->s->cell[i];
	int rc;

	take_printed(r, c, slot->out);
	take_points(r->s, c);
	conclude_cell(c, status, slot->complaints);
	c->took_s = (double)(monotonic_ms() - slot->began_ms) / 1000;
	slot_free(slot);
	r->busy--;
	rc = study_record_cell(r->s, i, e);
	if (r->ended)
		r->ended(r, i);
	return rc;
}

static int await_one(struct runner *r, struct err *e)
{
	sigset_t old;
	int status = 0;
	pid_t pid;

	while ((pid = waitpid(-1, &status, 0)) < 0 && errno == EINTR)
		;
	if (pid < 0)
		return err_set(e, -ECHILD, STATUS_FAILED, "kblat", "wait for a run", "it is gone");
	block_signals(&old);
	running_set(pid, 0);
	sigprocmask(SIG_SETMASK, &old, NULL);
	for (size_t i = 0; i < r->slots; i++)
		if (r->slot[i].pid == pid)
			return end_cell(r, &r->slot[i],
					WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), e);
	return 0;
}

/* --- the beginning of a run --- */

static int prepare_child(void *context)
{
	(void)context;
	signal(SIGUSR1, SIG_IGN); /* until the child has a handler of its own */
	return setenv(STUDY_VARIABLE, "1", 1) ? -errno : 0;
}

/* Signals are blocked until the process is known to which they must be passed on. */
static pid_t start_child(const struct runner_slot *slot, const struct words *w)
{
	/* A process group of its own: otherwise it would receive a terminal's Ctrl-C in addition to the signal that is
	 * passed on, so that it would count twice. */
	const struct spawn s = {.words = (const char *const *)w->word,
				.program = "/proc/self/exe",
				.in = -1,
				.out = slot->out,
				.err = slot->complaints < 0 ? STDERR_FILENO : slot->complaints,
				.end_signal = SIGTERM,
				.own_group = true,
				.prepare = prepare_child};
	sigset_t old;
	pid_t pid;

	fflush(NULL);
	block_signals(&old);
	pid = spawn_program(&s);
	if (pid > 0)
		running_set(0, pid);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return pid;
}

/* Its run was interrupted or has failed, and no longer counts. */
static void put_away(struct cell *c)
{
	if (c->run)
		words_add(&c->earlier, c->run);
	c->run = NULL;
	c->exit_status = -1;
	c->took_s = NAN;
	cell_clear_points(c);
}

static int start_cell(struct runner *r, struct runner_slot *slot, size_t i, struct err *e)
{
	struct cell *c = &r->s->cell[i];
	const bool apart = r->s->kind->apart;
	struct words w;

	*slot = (struct runner_slot){.cell = i,
				     .out = memfd_create("kblat-cell-out", MFD_CLOEXEC),
				     .complaints = apart ? memfd_create("kblat-cell-err", MFD_CLOEXEC) : -1,
				     .began_ms = monotonic_ms()};
	if (slot->out < 0 || (apart && slot->complaints < 0))
		return err_sys(e, -errno, "kblat", "make memory for what a run prints");
	put_away(c);
	cell_set_state(c, CELL_RUNNING, "");
	if (study_record_cell(r->s, i, e))
		return -EIO;
	w = runner_words(r->s, c);
	slot->pid = start_child(slot, &w);
	words_free(&w);
	return slot->pid < 0 ? err_sys(e, slot->pid, "kblat", "start a run") : 0;
}

int runner_start(struct runner *r, size_t cell, struct err *e)
{
	size_t i = 0;
	int rc = 0;

	while (!rc && r->busy == r->slots)
		rc = await_one(r, e);
	if (rc || runner_is_interrupted())
		return rc;
	while (r->slot[i].pid)
		i++;
	rc = start_cell(r, &r->slot[i], cell, e);
	if (rc)
		slot_free(&r->slot[i]);
	else
		r->busy++;
	return rc;
}

int runner_finish(struct runner *r, struct err *e)
{
	int rc = 0;

	while (r->busy) {
		struct err own = ERR_INIT;
		const int waited = await_one(r, &own);

		if (waited && !rc)
			rc = err_set(e, waited, own.status, NULL, NULL, "%s", own.text);
		if (waited == -ECHILD)
			break;
	}
	return rc;
}

/* --- the runner --- */

void runner_open(struct runner *r, struct study *s, size_t at_once)
{
	*r = (struct runner){.s = s, .slots = at_once, .slot = or_abort(calloc(at_once, sizeof(*r->slot)))};
	for (size_t i = 0; i < at_once; i++)
		r->slot[i] = (struct runner_slot){.out = -1, .complaints = -1};
}

void runner_close(struct runner *r)
{
	free(r->slot);
	r->slot = NULL;
}
