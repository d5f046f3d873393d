/* All or nothing, with operations that fail on purpose, on a machine of three files. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "tap.h"
#include "tuning/journal/journal.h"
#include "tuning/journal/transaction.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/process.h"
#include "tuning/machine/state_folder.h"
#include "tuning/machine/tasks.h"
#include "tuning/ops/op_cpuset.h"
#include "tuning/ops/op_file.h"
#include "tuning/ops/ops.h"
#include "tuning/steps/plan.h"

static char *root;
static struct machine m;

static void put(const char *name, const char *text)
{
	char *path = fs_path("%s/%s", root, name);

	tap_file(path, text, strlen(text));
	free(path);
}

static void is_file(const char *name, const char *want)
{
	char *path = fs_path("%s/%s", root, name), *text = NULL;

	fs_read(path, 4096, &text, NULL, NULL);
	is_str(text, want, "%s holds what it should", name);
	free(text);
	free(path);
}

static void make_machine(const char *habits)
{
	struct err e = ERR_INIT;
	char *run;

	root = tap_dir();
	run = fs_path("%s/run", root);
	mkdir(run, 0755);
	free(run);
	put("a", "1\n");
	put("b", "[x] y\n");
	put("c", "3");
	if (habits)
		put("habits", habits);
	ok(!machine_open(&m, root, &e), "a machine: %s", e.text);
	ok(!state_folder_open(&m, true, &e), "its journal's folder: %s", e.text);
}

static void drop_machine(void)
{
	machine_close(&m);
	tap_dir_remove(root);
}

static void add_value(struct plan *p, const char *path, const char *form, const char *raw, const char *before,
		      const char *after)
{
	plan_step(p, "test", &op_file, path, before, after, json_pack("{s:s, s:s}", "form", form, "raw", raw));
}

static void make_plan(struct plan *p)
{
	plan_init(p, "test", "");
	add_value(p, "/a", "text", "1\n", "1", "10");
	add_value(p, "/b", "choice", "[x] y\n", "x", "y");
	add_value(p, "/c", "text", "3", "3", "30");
}

static int load(struct journal *j)
{
	return journal_load(&m, j, NULL);
}

static void test_apply_and_undo(void)
{
	struct err e = ERR_INIT;
	struct journal j;
	struct drift d;
	struct plan p;
	struct undone done;

	make_machine(NULL);
	make_plan(&p);
	journal_init(&j, &m, "test");
	ok(!transaction_apply(&m, &p, &j, &e), "applied: %s", e.text);
	is_file("a", "10\n");
	is_file("b", "x [y]\n");
	is_file("c", "30\n");
	journal_free(&j);
	ok(!load(&j), "the journal can be read again");
	is_int((long long)j.count, 3, "with all its steps");
	is_int(j.state, JOURNAL_APPLIED, "and its state");
	transaction_verify(&m, &j, &d);
	is_int((long long)d.drifted, 0, "nothing has drifted");
	json_decref(d.list);
	put("b", "[x] y\n");
	transaction_verify(&m, &j, &d);
	is_int((long long)d.drifted, 1, "now one has");
	json_decref(d.list);
	ok(!transaction_undo(&m, &j, NULL, "/c", &done, &e), "one path undone");
	is_int((long long)done.steps, 1, "that alone");
	is_file("c", "3");
	is_file("a", "10\n");
	ok(!transaction_undo(&m, &j, NULL, NULL, &done, &e), "the rest undone");
	is_file("a", "1\n");
	is_file("b", "[x] y\n");
	journal_free(&j);
	is_int(load(&j), -ENOENT, "no journal is left");
	plan_free(&p);
	drop_machine();
}

static void test_failure(const char *habits, const char *said)
{
	struct err e = ERR_INIT;
	struct journal j;
	struct plan p;

	make_machine(habits);
	make_plan(&p);
	journal_init(&j, &m, "test");
	ok(transaction_apply(&m, &p, &j, &e) < 0, "it fails");
	contains(e.text, said, "and says why");
	contains(e.text, "everything is as before", "and what became of the rest");
	is_file("a", "1\n");
	is_file("b", "[x] y\n");
	is_file("c", "3");
	journal_free(&j);
	is_int(load(&j), -ENOENT, "no journal is left");
	plan_free(&p);
	drop_machine();
}

/* A file that takes the new value and not the old one. */
static void test_failed_undo(void)
{
	struct err e = ERR_INIT;
	struct journal j;
	struct plan p;
	struct undone done;

	make_machine(NULL);
	make_plan(&p);
	journal_init(&j, &m, "test");
	ok(!transaction_apply(&m, &p, &j, &e), "applied");
	put("habits", "/b write EBUSY\n");
	machine_close(&m);
	ok(!machine_open(&m, root, &e) && !state_folder_open(&m, false, &e), "the machine has another habit now");
	ok(transaction_undo(&m, &j, NULL, NULL, &done, &e) == -EBUSY, "one cannot be undone");
	is_int((long long)done.steps, 2, "the others are");
	is_file("a", "1\n");
	is_file("c", "3");
	journal_free(&j);
	ok(!load(&j), "the journal stays");
	is_int((long long)j.count, 1, "with the one that is left");
	is_int(j.state, JOURNAL_RESTORING, "and says so");
	journal_free(&j);
	plan_free(&p);
	drop_machine();
}

/* What is gone may come back with what could not be undone yet, so it is not given up before. */
static void test_gone_behind_failure(void)
{
	struct err e = ERR_INIT;
	struct journal j;
	struct plan p;
	struct undone done;
	char *path;

	make_machine(NULL);
	make_plan(&p);
	journal_init(&j, &m, "test");
	ok(!transaction_apply(&m, &p, &j, &e), "applied");
	put("habits", "/b write EBUSY\n");
	path = fs_path("%s/a", root);
	unlink(path);
	machine_close(&m);
	ok(!machine_open(&m, root, &e) && !state_folder_open(&m, false, &e), "the machine has another habit now");
	ok(transaction_undo(&m, &j, NULL, NULL, &done, &e) == -EBUSY, "one cannot be undone");
	is_int((long long)j.count, 2, "it and the one that is gone stay");
	put("habits", "");
	put("a", "10\n");
	machine_close(&m);
	ok(!machine_open(&m, root, NULL) && !state_folder_open(&m, false, NULL), "it can be written to again");
	ok(!transaction_undo(&m, &j, NULL, NULL, &done, NULL), "all is undone");
	is_int((long long)done.gone, 0, "nothing is gone");
	is_file("a", "1\n");
	journal_free(&j);
	plan_free(&p);
	free(path);
	drop_machine();
}

/* What somebody did between the plan and a step that was not made is theirs. */
static void test_not_begun(void)
{
	struct cgroups cg = {.version = 2, .root = "/cg", .prefix = "cpuset."};
	struct err e = ERR_INIT;
	struct cpulist cpus;
	struct journal j;
	struct plan p;
	char *folder;

	make_machine(NULL);
	folder = fs_path("%s/cg", root);
	mkdir(folder, 0755);
	free(folder);
	folder = fs_path("%s/cg/rt", root);
	mkdir(folder, 0755);
	free(folder);
	put("cg/rt/cgroup.procs", "42\n");
	plan_init(&p, "test", "");
	add_value(&p, "/a", "text", "1\n", "1", "10");
	cpulist_parse("0", &cpus, NULL, 0);
	op_cpuset_plan(&p, "test", &cg, "rt", &cpus, &cpus, "member");
	add_value(&p, "/c", "text", "3", "3", "30");
	put("c", "77");
	journal_init(&j, &m, "test");
	ok(transaction_apply(&m, &p, &j, &e) < 0, "somebody has made the cpuset meanwhile");
	contains(e.text, "everything is as before", "that is an error");
	is_file("a", "1\n");
	is_file("c", "77");
	is_file("cg/rt/cgroup.procs", "42\n");
	journal_free(&j);
	is_int(load(&j), -ENOENT, "no journal is left");
	plan_free(&p);
	drop_machine();
}

/* No space, not even for the number of a process. */
static void test_lock_without_space(void)
{
	struct rlimit before, none;
	struct err e = ERR_INIT;
	int lock;

	make_machine(NULL);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	none = (struct rlimit){0, before.rlim_max};
	setrlimit(RLIMIT_FSIZE, &none);
	lock = journal_lock(&m, &e);
	setrlimit(RLIMIT_FSIZE, &before);
	ok(lock >= 0, "locked all the same: %s", e.text);
	close(lock);
	drop_machine();
}

static void test_lock(void)
{
	struct err e = ERR_INIT;
	int lock, other;

	make_machine(NULL);
	lock = journal_lock(&m, &e);
	ok(lock >= 0, "locked");
	other = journal_lock(&m, &e);
	is_int(other, -EAGAIN, "not twice");
	contains(e.text, "another kbtune (process", "the error says by whom");
	close(lock);
	other = journal_lock(&m, NULL);
	ok(other >= 0, "free again");
	close(other);
	drop_machine();
}

/* The state of a child after it has changed. */
static char child_state(pid_t pid, char want)
{
	struct machine live;
	struct thread t = {0};

	machine_open(&live, NULL, NULL);
	for (int i = 0; i < 1000 && t.state != want; i++) {
		usleep(1000);
		tasks_read(&live, pid, pid, &t);
	}
	machine_close(&live);
	return t.state;
}

/* On the live machine, with a process of our own. */
static void test_pause(bool stopped_meanwhile)
{
	struct machine live;
	struct err e = ERR_INIT;
	struct step s;
	pid_t pid = fork();

	if (!pid)
		for (;;)
			pause();
	machine_open(&live, NULL, NULL);
	step_init(&s, "irqbalance", &op_pause, "daemon", "running", "paused",
		  json_pack("{s:i, s:I}", "pid", (int)pid, "start", (json_int_t)process_of(pid).start));
	child_state(pid, 'S');
	if (stopped_meanwhile) {
		kill(pid, SIGSTOP);
		child_state(pid, 'T');
	}
	ok(!op_pause.apply(&live, &s, &e), "applied: %s", e.text);
	is_int(child_state(pid, 'T'), 'T', "it is stopped");
	is_int(s.not_begun, stopped_meanwhile, "there is something to undo only if kbtune stopped it");
	if (!s.not_begun) {
		ok(!op_pause.undo(&live, &s, &e), "undone: %s", e.text);
		is_int(child_state(pid, 'S'), 'S', "it runs again");
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	step_free(&s);
	machine_close(&live);
}

int main(void)
{
	test_apply_and_undo();
	test_failure("/c write EIO\n", "/c: cannot write");
	test_failure("/b reads [x] y\n", "wrote 'y', but read back 'x'");
	test_failed_undo();
	test_gone_behind_failure();
	test_not_begun();
	test_lock();
	test_lock_without_space();
	test_pause(false);
	test_pause(true);
	return done_testing();
}
