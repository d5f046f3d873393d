/* tuned's daemon, played by a script that takes its time; nothing of this machine is touched: the
 * steps name no files. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "tap.h"
#include "tuning/machine/holder.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/tuned.h"
#include "tuning/ops/op_tuned.h"

static char *dir;
static struct machine m;

/* It says that it began before it waits, so that we can kill in between. */
static const char script[] = "#!/bin/sh\n"
			     "cd \"$TUNED_DIR\" || exit 1\n"
			     "case $1 in\n"
			     "profile) echo \"$2\" >>began; sleep 0.5; echo \"$2\" >active ;;\n"
			     "active) echo \"Current active profile: $(cat active)\" ;;\n"
			     "esac\n";

static void put(const char *name, const char *text, mode_t mode)
{
	char *path = fs_path("%s/%s", dir, name);

	tap_file(path, text, strlen(text));
	chmod(path, mode);
	free(path);
}

static void is_active(const char *want, const char *when)
{
	char *path = fs_path("%s/active", dir), *text = NULL;

	fs_read(path, 4096, &text, NULL, NULL);
	is_str(text, want, "the daemon's profile %s", when);
	free(text);
	free(path);
}

static void set_up(void)
{
	struct err e = ERR_INIT;
	char *path;

	dir = tap_dir();
	path = fs_path("%s:%s", dir, getenv("PATH"));
	put("tuned-adm", script, 0755);
	put("active", "balanced\n", 0644);
	setenv("PATH", path, 1);
	setenv("TUNED_DIR", dir, 1);
	ok(!machine_open(&m, NULL, &e), "this machine");
	m.state_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(path);
}

static void make_step(struct step *s)
{
	step_init(s, "tuned", &op_tuned, "tuned's profile", "balanced", "ours",
		  json_pack("{s:s, s:s, s:s, s:[], s:[]}", "profile", "ours", "mode", "daemon", "before", "balanced",
			    "guards", "files"));
}

static bool has_begun(void)
{
	char *path = fs_path("%s/began", dir);
	bool has = !access(path, F_OK);

	free(path);
	return has;
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static void test_killed(void)
{
	struct err e = ERR_INIT;
	struct step s;
	pid_t child;

	make_step(&s);
	child = fork();
	if (child == 0) {
		op_tuned.apply(&m, &s, NULL);
		_exit(0);
	}
	for (int i = 0; i < 1000 && !has_begun(); i++)
		pause_ms(5);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	ok(!op_tuned.undo(&m, &s, &e), "undone: %s", e.text);
	is_active("balanced\n", "is what it was");
	pause_ms(700);
	is_active("balanced\n", "stays so, when all that was begun has ended");
	is_int(holder_pid(&m, "tuned-adm"), 0, "no process of ours is left");
	step_free(&s);
}

static void test_whole(void)
{
	struct err e = ERR_INIT;
	struct step s;
	char now[300];

	make_step(&s);
	ok(!op_tuned.apply(&m, &s, &e), "applied: %s", e.text);
	is_active("ours\n", "is ours");
	is_int(op_tuned.check(&m, &s, now, sizeof(now)), CHECK_SAME, "and checked");
	ok(!op_tuned.undo(&m, &s, &e), "undone: %s", e.text);
	is_active("balanced\n", "is what it was");
	ok(!op_tuned.apply(&m, &s, &e), "applied again");
	put("active", "powersave\n", 0644);
	ok(!op_tuned.undo(&m, &s, &e), "undone after somebody chose another");
	is_active("powersave\n", "is theirs");
	step_free(&s);
}

/* Whether the daemon has our profile is not known: that is not the same as another one. */
static void test_silent(void)
{
	struct err e = ERR_INIT;
	struct step s;

	make_step(&s);
	put("active", "ours\n", 0644);
	put("tuned-adm", "#!/bin/sh\nkill -9 $$\n", 0755);
	ok(op_tuned.undo(&m, &s, &e) < 0, "not undone if tuned-adm is killed: %s", e.text);
	put("tuned-adm", script, 0755);
	err_clear(&e);
	ok(!op_tuned.undo(&m, &s, &e), "undone when it answers: %s", e.text);
	is_active("balanced\n", "is what it was");
	step_free(&s);
}

static void test_command(void)
{
	const char *const talk[] = {"sh", "-c", "echo one; echo two >&2; exit 7", NULL};
	const char *const none[] = {"no-such", NULL}, *const chatty[] = {"yes", NULL},
			  *const mute[] = {"sleep", "100", NULL};
	char said[64];

	is_int(tuned_command(talk, -1, 60000, said, sizeof(said)), 7, "its exit status");
	is_str(said, "one\ntwo\n", "and both streams");
	is_int(tuned_command(none, -1, 60000, said, sizeof(said)), -ENOENT, "no such program");
	is_int(tuned_command(chatty, -1, 50, said, sizeof(said)), -ETIMEDOUT, "one that never stops talking is killed");
	is_int(tuned_command(mute, -1, 50, said, sizeof(said)), -ETIMEDOUT, "one that says nothing, too");
}

int main(void)
{
	set_up();
	test_killed();
	test_whole();
	test_silent();
	test_command();
	machine_close(&m);
	tap_dir_remove(dir);
	return done_testing();
}
