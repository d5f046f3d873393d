/*
 * kbtune run PROFILE -- CMD: applied, run, undone, whatever happens to CMD or to us. A guardian, a process of its own that
 * sleeps on a pipe, sees our end of it close when we die, and restores then.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tuning/child.h"
#include "tuning/commands.h"
#include "tuning/journal.h"
#include "tuning/machine.h"
#include "tuning/transaction.h"

#define LOCK_TRIES 200 /* of 50 ms */

const struct cli_command cmd_run_cli = {
    .name = "run",
    .synopsis = "PROFILE [--in SHIELD] [--replace] [--strict] -- COMMAND [ARGUMENT]...",
    .summary =
	"Apply a profile, run a command, and put everything back when it ends, on a signal, and when kbtune dies.",
    .details =
	"The exit status is the command's; 128+N if signal N ended it. The command runs outside of the shields unless "
	"--in names one. A partition that is isolated does not balance load: pin each thread to its CPU.",
    .min_args = 2,
    .max_args = 100000,
};

/* Only what our parent applied: it may have been restored, and something else applied, meanwhile. */
static bool is_of(const struct journal *j, pid_t parent)
{
	return json_integer_value(json_object_get(j->about, "run")) == parent;
}

static void restore_for(const char *sysroot, pid_t parent)
{
	struct timespec pause = {.tv_nsec = 50000000};
	struct err e = ERR_INIT;
	struct journal j = {0};
	struct machine m;
	int lock = -1;

	if (machine_open(&m, sysroot, &e) || journal_open(&m, false, &e))
		return;
	m.kill_after = -1;
	for (int i = 0; i < LOCK_TRIES && lock < 0; i++) {
		err_clear(&e);
		lock = journal_lock(&m, &e);
		if (lock < 0)
			nanosleep(&pause, NULL);
	}
	if (lock >= 0 && !journal_load(&m, &j, &e) && !j.moot && is_of(&j, parent))
		transaction_undo(&m, &j, NULL, NULL, NULL, &e);
	if (e.status)
		fprintf(stderr, "kbtune: %s\n", e.text);
	journal_free(&j);
	machine_close(&m);
}

static void guard(int pipe_end, const char *sysroot, pid_t parent)
{
	char byte;
	ssize_t n;

	setsid();
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	do
		n = read(pipe_end, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		restore_for(sysroot, parent);
	_exit(0);
}

/* The end to write one byte to when all is well; or a negative errno. */
static int start_guardian(const char *sysroot, pid_t *guardian)
{
	pid_t parent = getpid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	fflush(stdout);
	*guardian = fork();
	if (*guardian == 0) {
		close(ends[1]);
		guard(ends[0], sysroot, parent);
	}
	close(ends[0]);
	if (*guardian < 0) {
		close(ends[1]);
		return -errno;
	}
	return ends[1];
}

static void end_guardian(int end, pid_t guardian)
{
	if (write(end, "", 1) < 0)
		perror("kbtune: guardian");
	close(end);
	waitpid(guardian, NULL, 0);
}

static enum status run(struct machine *m, const char *profile, const char *in, bool replace, bool strict,
		       char *const command[], struct err *e)
{
	enum status status = apply_profile(m, profile, replace, strict, true, false, e), restored;
	struct err undo = ERR_INIT;
	int rc;

	if (status)
		return status;
	rc = child_run(m, in, command, e);
	restored = restore_all(m, false, true, &undo);
	if (restored) {
		fprintf(stderr, "kbtune: %s\n", undo.text);
		return rc > 0 ? (enum status)rc : restored;
	}
	return rc < 0 ? failed(e) : (enum status)rc;
}

/* SIGINT, SIGTERM, SIGHUP between apply and the command's start, and between its end and restore, must not end us. */
static void hold_signals(void)
{
	sigset_t held;

	sigemptyset(&held);
	sigaddset(&held, SIGINT);
	sigaddset(&held, SIGTERM);
	sigaddset(&held, SIGHUP);
	sigprocmask(SIG_BLOCK, &held, NULL);
}

static enum status run_guarded(const char *sysroot, const char *profile, const char *in, bool replace, bool strict,
			       char *const command[], struct err *e)
{
	pid_t guardian = -1;
	enum status status;
	struct machine m;
	int end = start_guardian(sysroot, &guardian);

	if (end < 0) {
		err_sys(e, end, NULL, "start a process");
		return failed(e);
	}
	if (machine_open(&m, sysroot, e)) {
		status = failed(e);
	} else {
		status = run(&m, profile, in, replace, strict, command, e);
		machine_close(&m);
	}
	end_guardian(end, guardian);
	return status;
}

enum status cmd_run(int argc, char **argv, struct err *e)
{
	const char *sysroot = NULL, *in = NULL;
	bool replace = false, strict = false, help;
	const struct cli_flag flags[] = {
	    {"in", CLI_STRING, &in, "SHIELD", "run the command inside this shield", 0, 0},
	    {"replace", CLI_FLAG, &replace, NULL, "restore what is applied first", 0, 0},
	    {"strict", CLI_FLAG, &strict, NULL, "refuse where a setting is not possible here", 0, 0},
	    {"sysroot", CLI_STRING, &sysroot, "DIR", "work on a recorded machine below DIR", 0, 0},
	    {NULL, CLI_FLAG, NULL, NULL, NULL, 0, 0}};
	enum status status = STATUS_OK;
	struct cli_list args;
	char **command;

	if (cli_parse(&cmd_run_cli, flags, argc, argv, &args, &help, e))
		return STATUS_USAGE;
	if (help) {
		cli_help("kbtune", &cmd_run_cli, flags, stdout);
	} else {
		command = calloc(args.count, sizeof(*command));
		if (!command)
			abort();
		for (size_t i = 1; i < args.count; i++)
			command[i - 1] = (char *)args.items[i];
		hold_signals();
		status = run_guarded(sysroot, args.items[0], in, replace, strict, command, e);
		free(command);
	}
	cli_list_free(&args);
	return status;
}
