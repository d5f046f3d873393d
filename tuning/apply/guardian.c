#include "tuning/apply/guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "common/monotonic.h"
#include "common/random.h"
#include "common/write_signals.h"
#include "tuning/apply/restore.h"
#include "tuning/journal/journal.h"
#include "tuning/journal/transaction.h"
#include "tuning/machine/cgroups.h"
#include "tuning/machine/exclusion.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/signals.h"
#include "tuning/machine/state_folder.h"

#define LOCK_TRIES 200 /* attempts, 50 ms each */

#define OWNER_DIGITS 32

/* With the lock held. Restore only what the parent has applied: meanwhile it may have been restored and something else
 * applied. If there is no journal, the parent may have been killed before it wrote one. */
static void restore_owned(struct machine *m, const char *owner, struct err *e)
{
	struct journal j = {0};
	int rc = journal_load(m, &j, e);

	if (!rc && !j.moot && journal_is_owned(&j, owner))
		transaction_undo(m, &j, NULL, NULL, NULL, e);
	else if (rc == -ENOENT)
		exclusion_release(m);
	journal_free(&j);
}

static void restore_once(struct machine *m, const char *owner, struct err *e)
{
	struct timespec pause = {.tv_nsec = 50000000};
	int lock = -1;

	for (int i = 0; i < LOCK_TRIES && lock < 0; i++) {
		err_clear(e);
		lock = journal_lock(m, e);
		if (lock < 0)
			nanosleep(&pause, NULL);
	}
	if (lock < 0)
		return;
	restore_owned(m, owner, e);
	close(lock);
}

static void restore_for(const char *sysroot, const char *owner)
{
	const int64_t deadline_ms = monotonic_ms() + RESTORE_PATIENCE_MS;
	struct err e = ERR_INIT;
	struct machine m;

	if (machine_open(&m, sysroot, &e) || state_folder_open(&m, false, &e))
		return;
	m.kill_after = -1;
	restore_once(&m, owner, &e);
	while (e.status && monotonic_ms() < deadline_ms) {
		sleep(1);
		restore_once(&m, owner, &e);
	}
	if (e.status)
		fprintf(stderr, "kbtune: %s\n", e.text);
	machine_close(&m);
}

/* The guardian must survive if the whole control group of its caller is killed, for example when a
 * service is stopped or a session ends. */
static void leave_group(const char *sysroot)
{
	struct machine m;

	if (machine_open(&m, sysroot, NULL))
		return;
	cgroups_leave(&m);
	machine_close(&m);
}

static void become_guardian(int end, const char *sysroot, const char *owner)
{
	char byte;
	ssize_t n;

	setsid();
	leave_group(sysroot);
	if (write(end, "", 1) < 0)
		_exit(1);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	write_signals_ignore();
	do
		n = read(end, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		restore_for(sysroot, owner);
	_exit(0);
}

struct guardian {
	pid_t pid;
	/* of the socket; a byte from the guardian means that it is ready, one from the caller
	 * that everything is fine */
	int end;
};

static int guardian_start(struct guardian *g, const char *sysroot, const char *owner, struct err *e)
{
	int ends[2], rc = 0;
	char byte;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return err_sys(e, -errno, NULL, "make a pair of sockets");
	fflush(stdout);
	g->pid = fork();
	if (g->pid == 0) {
		close(ends[1]);
		become_guardian(ends[0], sysroot, owner);
	}
	if (g->pid < 0)
		rc = err_sys(e, -errno, NULL, "start a process");
	close(ends[0]);
	if (!rc && read(ends[1], &byte, 1) != 1)
		rc = err_set(e, -EPIPE, STATUS_FAILED, "the guardian", "start", "it ended at once");
	if (rc)
		close(ends[1]);
	g->end = rc ? -1 : ends[1];
	return rc;
}

static void guardian_end(struct guardian *g)
{
	if (write(g->end, "", 1) < 0)
		perror("kbtune: guardian");
	close(g->end);
	waitpid(g->pid, NULL, 0);
}

enum status guardian_run(struct machine *m, const char *sysroot,
			 enum status (*act)(struct machine *m, const char *owner, void *request, struct err *e),
			 void *request, struct err *e)
{
	struct guardian guardian = {-1, -1};
	char owner[OWNER_DIGITS + 1];
	enum status status;
	int rc;

	signals_block(NULL);
	rc = random_hex(owner, OWNER_DIGITS);
	if (rc)
		err_sys(e, rc, NULL, "get random bytes");
	if (rc || guardian_start(&guardian, sysroot, owner, e))
		return STATUS_FAILED;
	status = act(m, owner, request, e);
	guardian_end(&guardian);
	return status;
}
