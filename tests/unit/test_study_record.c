/* A study's record: what is saved is read again; what is damaged or hostile is refused; what is checked is what is read. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "study/study.h"
#include "study/study_record.h"
#include "study/study_run.h"
#include "tap.h"

static const struct study_kind kind = {.name = "toy", .suffix = "-toy", .command = "kblat run"};

/* --- a file that is replaced while it is looked at --- */

static char *dir, *record, *cells;
static bool swaps;

static void swap_file(const struct stat *st)
{
	if (!swaps || !S_ISREG(st->st_mode))
		return;
	swaps = false;
	if (unlink(record))
		note("%s stays", record);
	tap_file(record, "{}", 2);
	chmod(record, 0644);
}

/* In place of the C library's. */
int fstat(int fd, struct stat *st)
{
	int rc = fstatat(fd, "", st, AT_EMPTY_PATH);

	if (!rc)
		swap_file(st);
	return rc;
}

int lstat(const char *path, struct stat *st)
{
	int rc = fstatat(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);

	if (!rc)
		swap_file(st);
	return rc;
}

/* --- a study --- */

static void fill(struct study *s, const char *parent)
{
	struct cell *c;

	*s = (struct study){.kind = &kind, .lock = -1, .argv = json_pack("[s, s]", "kblat", "run")};
	s->name = fs_path("some");
	s->title = fs_path("Some title");
	s->spec = fs_path("/specs/some");
	s->version = fs_path("1.0.0");
	s->commit = fs_path("abc");
	s->started_utc = fs_path("2026-11-22T09:30:00Z");
	s->parent = fs_path("%s", parent);
	s->options.quick = true;
	s->options.source = fs_path("ssh {host}");
	words_add(&s->options.set, fs_path("size=3"));
	study_hosts_add(&s->hosts, "n1", "10.0.0.1", NULL);
	study_hosts_add(&s->hosts, "n2", "n2", NULL);
	c = study_add_cell(s);
	c->name = fs_path("first");
	c->spec = fs_path("/specs/some/first");
	words_add(&c->set, fs_path("delay=1us"));
	c->points = 2;
	c->messages = 200;
	c->expected = (struct forecast){.paced_s = 1, .rest_s = 2, .is_former = true};
	c = study_add_cell(s);
	c->sink = 1;
	c->block = 7;
}

/* What became of the first cell. */
static void complete(struct cell *c)
{
	cell_set_state(c, CELL_COMPLETED, "");
	c->run = fs_path("runs/first-1");
	words_add(&c->earlier, fs_path("runs/first-0"));
	c->exit_status = 3;
	c->took_s = 1.5;
	c->point_count = 1;
	c->point = calloc(1, sizeof(*c->point));
	c->point[0] = (struct cell_point){
	    .id = 4, .metric = fs_path("lat_ns"), .why = fs_path("%s", ""), .p50 = 1000, .p99 = NAN, .valid = true};
}

static void saved_is_read(void)
{
	struct study s, again = {.kind = &kind, .lock = -1};
	struct err e = ERR_INIT;
	const struct cell *c;

	fill(&s, dir);
	is_int(study_record_begin(&s, &e), 0, "a record is made %s", e.text);
	complete(&s.cell[0]);
	is_int(study_record_cell(&s, 0, &e), 0, "a cell is saved %s", e.text);
	s.status = STUDY_INTERRUPTED;
	is_int(study_record_save(&s, &e), 0, "the study, too %s", e.text);
	if (ok(study_record_open(&again, s.path, &e) == 0 && again.count == 2, "and read again %s", e.text)) {
		json_t *a = study_to_json(&s), *b = study_to_json(&again);

		ok(json_equal(a, b), "the study as it was");
		json_decref(a);
		json_decref(b);
		for (size_t i = 0; i < 2; i++) {
			a = study_cell_to_json(&s, i);
			b = study_cell_to_json(&again, i);
			ok(json_equal(a, b), "cell %zu as it was", i);
			json_decref(a);
			json_decref(b);
		}
		c = &again.cell[0];
		ok(c->state == CELL_COMPLETED && c->exit_status == 3 && c->took_s == 1.5 && isnan(c->point[0].p99),
		   "in fields");
		ok(c->expected.is_former && c->expected.rest_s == 2, "with what it was expected to take");
		ok(again.cell[1].state == CELL_PENDING && again.cell[1].sink == 1 && again.cell[1].block == 7,
		   "what was not run is pending");
	}
	study_free(&again);
	study_free(&s);
}

/* --- hostile records --- */

static const char whole[] =
    "{\"schema\": 1, \"kind\": \"toy\", \"name\": \"some\", \"title\": \"t\", \"spec\": \"/s\", "
    "\"status\": \"RUNNING\", \"argv\": [], \"version\": \"1\", \"commit\": \"c\", \"started_utc\": "
    "\"x\", \"ended_utc\": null, \"options\": {\"set\": [\"a=b\"], \"source\": null}, \"hosts\": "
    "[{\"name\": \"n1\", \"address\": \"n1\"}, {\"name\": \"n2\", \"address\": \"n2\"}]}";
static const char cell[] = "{\"cell\": 0, \"name\": \"x\", \"spec\": \"/s/x\", \"state\": \"pending\", \"run\": null}";

static json_t *changed(const char *text, const char *key, const char *value)
{
	json_t *j = json_loads(text, 0, NULL), *v = json_loads(value, JSON_DECODE_ANY, NULL);

	json_object_set_new(j, key, v);
	return j;
}

static void study_with(const char *key, const char *value, const char *complaint)
{
	struct study s = {.kind = &kind, .lock = -1};
	struct err e = ERR_INIT;
	json_t *j = changed(whole, key, value);
	const int rc = study_from_json(&s, j, "study.json", &e);

	if (complaint) {
		ok(rc && e.status == STATUS_USAGE, "%s: %s is refused", key, value);
		contains(e.text, complaint, "and why");
	} else {
		is_int(rc, 0, "%s: %s is read %s", key, value, e.text);
	}
	study_free(&s);
	json_decref(j);
}

static void cell_with(const char *key, const char *value, const char *complaint)
{
	struct study s = {.kind = &kind, .lock = -1};
	struct err e = ERR_INIT;
	json_t *head = json_loads(whole, 0, NULL), *j = changed(cell, key, value);
	int rc = study_from_json(&s, head, "study.json", &e) ?: study_cell_from_json(&s, j, "cells.jsonl:1", &e);

	if (complaint) {
		ok(rc && e.status == STATUS_USAGE && !s.count, "%s: %s is refused", key, value);
		contains(e.text, complaint, "and why");
	} else {
		is_int(rc, 0, "%s: %s is read %s", key, value, e.text);
	}
	study_free(&s);
	json_decref(head);
	json_decref(j);
}

static void hostile_studies(void)
{
	study_with("schema", "1", NULL);
	study_with("schema", "2", "'schema' is not 1");
	study_with("schema", "1.0", "'schema' is not");
	study_with("kind", "\"pairs\"", "'kind' is another one");
	study_with("name", "\"\"", "'name' is missing");
	study_with("name", "\"../x\"", "'name' is not a name");
	study_with("spec", "\"-x\"", "'spec' is not an absolute path");
	study_with("spec", "[]", "'spec' is not a text");
	study_with("status", "\"DONE\"", "'status' is none of the words");
	study_with("argv", "{}", "'argv' is not a list");
	study_with("options", "[]", "'options' is not an object");
	study_with("options", "{\"set\": \"a=b\"}", "'set' is not a list of texts");
	study_with("options", "{\"set\": [1]}", "'set' is not a list of texts");
	study_with("options", "{\"quick\": 1}", "'quick' is neither true nor false");
	study_with("options", "{\"at_once\": 99999}", "'at_once' is not an integer in its range");
	study_with("hosts", "[{\"name\": \"-oProxyCommand=x\", \"address\": \"a\"}]", "'hosts' has one that is none");
	study_with("hosts", "[{\"name\": \"a\", \"address\": \"a\"}, {\"name\": \"a\", \"address\": \"b\"}]",
		   "that is there twice");
	study_with("hosts", "{}", "'hosts' is not a list");
}

static void hostile_cells(void)
{
	cell_with("cell", "0", NULL);
	cell_with("cell", "1", "'cell' is not the number of one of its cells");
	cell_with("cell", "-1", "'cell' is not an integer");
	cell_with("cell", "null", "'cell' is not the number");
	cell_with("name", "\"a/b\"", "'name' is not a name");
	cell_with("name", "\"a\\u001b[31m\"", "'name' is not a name");
	cell_with("name", "null", "'source' is none of its hosts");
	cell_with("spec", "\"s\"", "'spec' is not an absolute path");
	cell_with("environment", "\"/etc/profile\"", "'environment' is not a name");
	cell_with("set", "[null]", "'set' is not a list of texts");
	cell_with("state", "\"done\"", "'state' is none of the words");
	cell_with("state", "3", "'state' is none of the words");
	for (size_t i = 0; i < 6; i++) {
		static const char *const paths[] = {"\"/etc\"", "\"..\"",  "\"a/../../b\"",
						    "\"a//b\"", "\"./a\"", "\"\""};

		cell_with("run", paths[i], "'run' leads out of its directory");
	}
	cell_with("earlier", "[\"../x\"]", "'earlier' leads out");
	cell_with("exit_status", "256", "'exit_status' is not an integer");
	cell_with("took_s", "-1", "'took_s' is not a number");
	cell_with("took_s", "\"1\"", "'took_s' is not a number");
	cell_with("numbers", "[{\"id\": 0, \"p50\": 1e300}]", "'p50' is not a number");
	cell_with("numbers", "7", "'numbers' is not a list");
}

static void a_cell_stays_itself(void)
{
	struct study s = {.kind = &kind, .lock = -1};
	struct err e = ERR_INIT;
	json_t *head = json_loads(whole, 0, NULL), *one = json_loads(cell, 0, NULL),
	       *other = changed(cell, "spec", "\"/etc\""), *done = changed(cell, "state", "\"completed\"");

	is_int(study_from_json(&s, head, "s", &e) ?: study_cell_from_json(&s, one, "c", &e), 0, "a cell");
	is_int(study_cell_from_json(&s, done, "c", &e), 0, "is completed by a later line");
	ok(s.count == 1 && s.cell[0].state == CELL_COMPLETED, "which takes its place");
	ok(study_cell_from_json(&s, other, "c", &e) < 0, "but not by one with another spec");
	contains(e.text, "'cell' has become another one", "and why");
	study_free(&s);
	json_decref(head);
	json_decref(one);
	json_decref(other);
	json_decref(done);
}

/* --- directories --- */

static void put(const char *head, const char *log)
{
	unlink(record);
	unlink(cells);
	tap_file(record, head, strlen(head));
	tap_file(cells, log, strlen(log));
	chmod(record, 0644);
	chmod(cells, 0644);
}

/* The number of cells, or a negative errno. */
static long long resumed(struct err *e)
{
	struct study s = {.kind = &kind, .lock = -1};
	int rc;

	err_clear(e);
	rc = study_record_resume(&s, dir, e);
	rc = rc ? rc : (int)s.count;
	study_free(&s);
	return rc;
}

static void logs(void)
{
	struct err e;
	char *log = fs_path("%s\n{\"cell\": 1, \"na\n%s\n\n{\"cell\": 2, \"name\"", cell, cell);
	char zeros[64] = "";
	struct study s = {.kind = &kind, .lock = -1};

	put(whole, log);
	is_int(resumed(&e), 1, "lines that were not completed are passed over %s", e.text);
	is_int(study_record_resume(&s, dir, &e), 0, "and what is appended behind one");
	cell_set_state(&s.cell[0], CELL_FAILED, "");
	is_int(study_record_cell(&s, 0, &e), 0, "is a line of its own");
	study_free(&s);
	s.kind = &kind;
	is_int(study_record_open(&s, dir, &e), 0, "which is read %s", e.text);
	is_int(s.count ? s.cell[0].state : 0, CELL_FAILED, "again");
	study_free(&s);
	free(log);
	put(whole, "");
	tap_file(cells, zeros, sizeof(zeros));
	is_int(resumed(&e), 0, "so are blocks that a disk has lost %s", e.text);
	put(whole, "{\"cell\": 5, \"state\": \"pending\"}\n");
	ok(resumed(&e) < 0, "a cell too far is refused");
	contains(e.text, "cells.jsonl:1: ", "and its line named");
	{
		json_t *j = changed(whole, "cells", "3");
		char *text = json_dumps(j, 0);

		put(text, "");
		ok(resumed(&e) < 0, "a log that has lost its cells is refused");
		contains(e.text, "it has only 0 of the 3 cells", "and why");
		free(text);
		json_decref(j);
	}
}

static void files_of_others(void)
{
	char *const files[] = {record, cells};
	struct err e;

	for (size_t i = 0; i < 2; i++) {
		put(whole, "");
		chmod(files[i], 0664);
		ok(resumed(&e) < 0, "%s that others may write is refused", files[i]);
		contains(e.text, "cannot continue it: other users may write to it", "and why");
		unlink(files[i]);
		ok(!symlink("/etc/hostname", files[i]), "a link");
		ok(resumed(&e) < 0, "is refused");
		contains(e.text, files[i], "and named");
	}
	put(whole, "");
	chmod(dir, 0777);
	ok(resumed(&e) < 0, "a directory that others may write is refused");
	chmod(dir, 0755);
	swaps = true;
	is_int(resumed(&e), 0, "what is read is what was checked %s", e.text);
	ok(!swaps && resumed(&e) < 0, "although its path leads elsewhere by then");
}

static void one_at_a_time(void)
{
	struct study one = {.kind = &kind, .lock = -1}, other = {.kind = &kind, .lock = -1};
	struct err e = ERR_INIT;

	put(whole, "");
	is_int(study_record_resume(&one, dir, &e), 0, "one continues it %s", e.text);
	is_int(study_record_resume(&other, dir, &e), -EBUSY, "another cannot");
	like(e.text, "another kblat \\(process [0-9]+\\) is running this study", "and is told who does");
	study_free(&one);
	study_free(&other);
}

int main(void)
{
	umask(022);
	dir = tap_dir();
	record = fs_path("%s/study.json", dir);
	cells = fs_path("%s/cells.jsonl", dir);
	saved_is_read();
	hostile_studies();
	hostile_cells();
	a_cell_stays_itself();
	logs();
	files_of_others();
	one_at_a_time();
	free(record);
	free(cells);
	tap_dir_remove(dir);
	return done_testing();
}
