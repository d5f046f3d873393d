/* The runner of a study, with processes of its own: started as "kblat run SPEC --out DIR …", this program is the run, and its spec
 * says how it ends. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "study/runner.h"
#include "study/study_record.h"
#include "study/study_run.h"
#include "tap.h"

#define KINDS_OF_ENDS 8

static struct study_kind kind = {
    .name = "toy", .suffix = "", .command = "kblat run", .runs = "runs", .quiet = true, .apart = true, .numbers = true};

/* --- the run --- */

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static void write_text(const char *path, const char *text)
{
	tap_file(path, text, strlen(text));
}

/* As kblat run does: a directory, and its path as the last line. */
static void leave_run(const char *out, const char *name)
{
	char *path = fs_path("%s/%s-%d", out, name, (int)getpid()), *file = fs_path("%s/run.json", path),
	     *summary = fs_path("%s/summary.json", path);

	fs_mkdirs(path, NULL);
	write_text(file, "{}");
	write_text(
	    summary,
	    "{\"points\": [{\"id\": 3, \"valid\": true, \"metrics\": {\"rtt_ns\": {\"p50\": 1200, \"p99\": "
	    "null}, \"other_ns\": {\"p50\": 1}}, \"reasons\": []}, {\"id\": 4, \"valid\": false, \"metrics\": {}, "
	    "\"reasons\": [\"lost\"]}]}");
	printf("a table\nof two lines\n%s\n", path);
	free(path);
	free(file);
	free(summary);
}

static volatile sig_atomic_t asked_to_end;

static void on_end(int signal_number)
{
	(void)signal_number;
	asked_to_end = 1;
}

static int be_the_run(char **argv)
{
	const char *end = strrchr(argv[2], '/') + 1, *out = argv[4];

	for (char **word = argv; *word; word++)
		if (!strncmp(*word, "echo=", 5))
			printf("%s\n", *word);
	if (!strcmp(end, "ok") || !strcmp(end, "invalid") || !strcmp(end, "slow"))
		leave_run(out, end);
	if (!strcmp(end, "slow"))
		pause_ms(300);
	if (!strcmp(end, "waits")) {
		signal(SIGINT, on_end);
		printf("waiting\n");
		for (int i = 0; i < 500 && !asked_to_end; i++)
			pause_ms(20);
		return STATUS_FAILED;
	}
	if (!strcmp(end, "killed"))
		raise(SIGKILL);
	if (!strcmp(end, "elsewhere"))
		printf("/tmp\n");
	if (!strcmp(end, "fails"))
		fprintf(stderr, "first\n%0299d\u00e4\u00e4\n", 0);
	return !strcmp(end, "invalid") ? STATUS_NO : !strcmp(end, "none") ? STATUS_IMPOSSIBLE : !strcmp(end, "fails");
}

/* --- studies --- */

static char *dir;

static void begin(struct study *s, const char *const *ends)
{
	static struct study_request request;
	struct err e = ERR_INIT;

	*s = (struct study){.kind = &kind, .lock = -1, .argv = json_array(), .request = &request};
	s->name = fs_path("s");
	s->title = fs_path("t");
	s->spec = fs_path("/spec");
	s->version = fs_path("1");
	s->commit = fs_path("c");
	s->started_utc = fs_path("u");
	s->parent = fs_path("%s", dir);
	for (; *ends; ends++) {
		struct cell *c = study_add_cell(s);

		c->name = fs_path("%s", *ends);
		c->spec = fs_path("/specs/%s", *ends);
	}
	if (study_record_begin(s, &e))
		note("%s", e.text);
}

static void run_all(struct study *s, size_t at_once, FILE *echo)
{
	struct runner r;
	struct err e = ERR_INIT;

	runner_open(&r, s, at_once);
	r.echo = echo;
	for (size_t i = 0; i < s->count; i++)
		if (runner_start(&r, i, &e))
			note("%s", e.text);
	is_int(runner_finish(&r, &e), 0, "all have ended %s", e.text);
	runner_close(&r);
}

static void each_end_has_its_state(void)
{
	static const struct {
		const char *end;
		enum cell_state state;
		int status;
		const char *why;
	} rows[] = {
	    {"ok", CELL_COMPLETED, 0, ""},
	    {"invalid", CELL_COMPLETED, STATUS_NO, ""},
	    {"elsewhere", CELL_FAILED, 0, "exit status 0"},
	    {"none", CELL_IMPOSSIBLE, STATUS_IMPOSSIBLE, "not possible on this machine"},
	    {"killed", CELL_FAILED, 128 + SIGKILL, "ended by signal 9"},
	    {"fails", CELL_FAILED, STATUS_FAILED, "exit status 1"},
	};
	const char *ends[KINDS_OF_ENDS] = {NULL};
	struct study s, again = {.kind = &kind, .lock = -1};
	struct err e = ERR_INIT;
	size_t same = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ends[i] = rows[i].end;
	kind.apart = false;
	begin(&s, ends);
	run_all(&s, 1, NULL);
	for (size_t i = 0; i < s.count; i++) {
		const struct cell *c = &s.cell[i];

		ok(c->state == rows[i].state && c->exit_status == rows[i].status, "%s: %s, status %d", rows[i].end,
		   cell_states[c->state], c->exit_status);
		is_str(c->why, rows[i].why, "and why");
		ok(c->took_s >= 0 && !c->run == (c->state != CELL_COMPLETED), "its time, and its run if it has one");
	}
	ok(s.cell[0].point_count == 2 && s.cell[0].point[0].id == 3 && s.cell[0].point[0].p50 == 1200 &&
	       isnan(s.cell[0].point[0].p99) && s.cell[0].point[0].valid,
	   "the numbers of its points");
	is_str(s.cell[0].point[0].metric, "rtt_ns", "of the first series");
	is_str(s.cell[0].point[1].why, "lost", "and why one is not valid");
	is_int(study_record_open(&again, s.path, &e), 0, "the record %s", e.text);
	for (size_t i = 0; i < again.count; i++)
		same += again.cell[i].state == s.cell[i].state;
	is_int((long long)same, (long long)s.count, "says the same");
	study_free(&again);
	study_free(&s);
}

static void what_is_printed(void)
{
	struct study s;
	char *text = NULL;
	size_t size;
	FILE *echo = open_memstream(&text, &size);

	kind.apart = true;
	begin(&s, (const char *const[]){"ok", "fails", "elsewhere", NULL});
	words_add(&s.cell[0].set, fs_path("echo=first"));
	run_all(&s, 1, echo);
	fclose(echo);
	is_str(text, "echo=first\na table\nof two lines\n/tmp\n", "is copied, except for the run directory");
	ok(strlen(s.cell[1].why) == 299, "a long complaint is cut between characters: %zu bytes",
	   strlen(s.cell[1].why));
	free(text);
	study_free(&s);
}

static void attempts_are_put_away(void)
{
	struct study s;
	char *before;

	begin(&s, (const char *const[]){"ok", NULL});
	run_all(&s, 1, NULL);
	before = fs_path("%s", s.cell[0].run);
	run_all(&s, 1, NULL);
	ok(s.cell[0].earlier.count == 1 && !strcmp(s.cell[0].earlier.word[0], before) &&
	       strcmp(s.cell[0].run, before) != 0,
	   "a cell that is run again keeps its earlier run");
	free(before);
	study_free(&s);
}

static void several_at_once(void)
{
	static const char *const slow[] = {"slow", "slow", "slow", "slow", NULL};
	struct timespec began, ended;
	struct study s;
	double took;

	begin(&s, slow);
	clock_gettime(CLOCK_MONOTONIC, &began);
	run_all(&s, 4, NULL);
	clock_gettime(CLOCK_MONOTONIC, &ended);
	took = (double)(ended.tv_sec - began.tv_sec) + (double)(ended.tv_nsec - began.tv_nsec) / 1e9;
	is_int((long long)study_count(&s, CELL_COMPLETED), 4, "four at once");
	ok(took >= 0.3 && took < 0.3 + s.cell[0].took_s + s.cell[1].took_s, "in less than their sum: %.2f s", took);
	study_free(&s);
}

/* The last test: there is no way back from an interrupt. */
static void interrupts(void)
{
	struct study s;
	struct runner r;
	struct err e = ERR_INIT;

	begin(&s, (const char *const[]){"waits", "waits", "ok", NULL});
	runner_catch_signals();
	runner_open(&r, &s, 2);
	is_int(runner_start(&r, 0, &e) ?: runner_start(&r, 1, &e), 0, "two are waiting");
	pause_ms(300);
	raise(SIGTERM);
	ok(runner_is_interrupted(), "an interrupt");
	is_int(runner_finish(&r, &e), 0, "ends them");
	ok(s.cell[0].state == CELL_INTERRUPTED && s.cell[1].state == CELL_INTERRUPTED && s.cell[0].took_s < 5,
	   "in order: %s", s.cell[0].why);
	is_int(runner_start(&r, 2, &e), 0, "another one");
	is_int((long long)r.busy, 0, "is not begun");
	is_str(cell_states[s.cell[2].state], "pending", "and is left");
	runner_close(&r);
	study_free(&s);
}

static void arguments(void)
{
	struct study s;
	struct words w;
	char *line = fs_path("%s", "");
	struct cell *c;

	begin(&s, (const char *const[]){NULL});
	study_hosts_add(&s.hosts, "n1", "10.0.0.1", NULL);
	study_hosts_add(&s.hosts, "n2", "n2", NULL);
	s.options.no_state = true;
	s.options.source = fs_path("ssh {host}");
	s.options.sink = fs_path("ssh {host} {source_address}");
	words_add(&s.options.set, fs_path("to={sink}"));
	words_add(&s.options.only, fs_path("size=1"));
	c = study_add_cell(&s);
	c->sink = 1;
	w = runner_words(&s, c);
	for (size_t i = 0; i < w.count; i++) {
		char *longer = fs_path("%s %s", line, w.word[i]);

		free(line);
		line = longer;
	}
	contains(line, " kblat run /spec --out ", "the study's spec");
	contains(line, "/runs --no-state --quiet --set to=n2 --only size=1 --source ssh n1 --sink ssh n2 10.0.0.1",
		 "its options, with each side's host");
	free(line);
	words_free(&w);
	study_free(&s);
}

int main(int argc, char **argv)
{
	if (argc > 4 && !strcmp(argv[1], "run"))
		return be_the_run(argv);
	dir = tap_dir();
	each_end_has_its_state();
	what_is_printed();
	attempts_are_put_away();
	several_at_once();
	arguments();
	interrupts();
	tap_dir_remove(dir);
	return done_testing();
}
