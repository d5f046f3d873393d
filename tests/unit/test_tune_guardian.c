/* The guardian of `kbtune run` cleans up after its parent, whenever that is killed. */
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fs.h"
#include "tap.h"
#include "tuning/apply/guardian.h"
#include "tuning/journal/change.h"
#include "tuning/journal/journal.h"
#include "tuning/machine/machine.h"

static char *root;

static bool is_claimed(void)
{
	char *path = fs_path("%s/run/kbtune.owner", root);
	bool is_there = !access(path, F_OK);

	free(path);
	return is_there;
}

static enum status begin_a_change(struct machine *m, const char *owner, void *request, struct err *e)
{
	struct journal j;
	int lock;

	(void)owner, (void)request;
	return change_begin(m, "test", &j, &lock, e) ? err_status(e) : STATUS_OK;
}

static enum status begin_and_die(struct machine *m, const char *owner, void *request, struct err *e)
{
	if (begin_a_change(m, owner, request, e) || !is_claimed())
		_exit(1);
	raise(SIGKILL);
	return STATUS_FAILED;
}

/* As another kbtune: its guardian becomes our child when it is killed. Its status. */
static int run_guarded(enum status (*act)(struct machine *, const char *, void *, struct err *))
{
	struct err e = ERR_INIT;
	struct machine m;
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(machine_open(&m, root, &e) ? 1 : (int)guardian_run(&m, root, false, act, NULL, &e));
	waitpid(pid, &status, 0);
	while (wait(NULL) > 0 || errno == EINTR)
		;
	return status;
}

int main(void)
{
	char *run;
	int status;

	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)) {
		skip("without PR_SET_CHILD_SUBREAPER nobody can wait for a guardian whose parent is killed");
		return done_testing();
	}
	root = tap_dir();
	run = fs_path("%s/run", root);
	mkdir(run, 0755);
	status = run_guarded(begin_and_die);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
	   "killed when the machine was ours, before there was a journal");
	ok(!is_claimed(), "the guardian lets others change the machine again");
	status = run_guarded(begin_a_change);
	ok(WIFEXITED(status) && !WEXITSTATUS(status), "one that ends by itself");
	ok(is_claimed(), "is trusted to have cleaned up");
	free(run);
	tap_dir_remove(root);
	return done_testing();
}
