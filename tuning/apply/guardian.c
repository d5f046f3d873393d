#include "tuning/apply/guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "common/monotonic.h"
#include "common/random.h"
#include "common/spawn.h"
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

	if (!rc && !j.other_boot && journal_is_owned(&j, owner))
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

/* --- leaving the caller's control group --- */

#define SCOPE_MS      5000 /* for systemd to answer, and to move the process */
#define SCOPE_LOOK_MS 20

static bool has_left(const struct machine *m, const char *group)
{
	char *now = cgroups_own(m);
	const bool left = now && strcmp(now, group) != 0;

	free(now);
	return left;
}

/* systemd moves this process into a scope of its own, also where it may not do so itself. */
static void ask_systemd(const struct machine *m, const char *group)
{
	const int64_t deadline_ms = monotonic_ms() + SCOPE_MS;
	char pid[16], scope[64], said[256];
	const char *const words[] = {"busctl",
				     getuid() ? "--user" : "--system",
				     "call",
				     "org.freedesktop.systemd1",
				     "/org/freedesktop/systemd1",
				     "org.freedesktop.systemd1.Manager",
				     "StartTransientUnit",
				     "ssa(sv)a(sa(sv))",
				     scope,
				     "fail",
				     "2",
				     "PIDs",
				     "au",
				     "1",
				     pid,
				     "Description",
				     "s",
				     "kbtune: restores what is applied if kbtune is killed",
				     "0",
				     NULL};
	struct timespec pause = {.tv_nsec = SCOPE_LOOK_MS * 1000000};

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	snprintf(scope, sizeof(scope), "kbtune-guardian-%d.scope", (int)getpid());
	if (access("/run/systemd/system", F_OK) ||
	    spawn_output(&(struct spawn){.words = words}, SCOPE_MS, said, sizeof(said)))
		return;
	while (!has_left(m, group) && monotonic_ms() < deadline_ms)
		nanosleep(&pause, NULL);
}

/*
 * The guardian must survive if the whole control group of its caller is killed, for example when a service is stopped or
 * a session ends. What the kernel accepts is looked at afterwards. True if it cannot be killed with the caller.
 */
static bool leave_group(const char *sysroot)
{
	struct machine m;
	char *group;
	bool left;

	if (machine_open(&m, sysroot, NULL))
		return true;
	group = cgroups_own(&m);
	/* In a container the root is a group of the host. */
	left = !m.root.live || !group || (!strcmp(group, "/") && !cgroups_are_read_only(&m));
	if (!left) {
		cgroups_leave(&m);
		if (!has_left(&m, group))
			ask_systemd(&m, group);
		left = has_left(&m, group);
	}
	free(group);
	machine_close(&m);
	return left;
}

/* --- the process --- */

/* What it says when it is ready. */
#define SAFE   's'
#define SHARED 'g'

struct guarded {
	const char *sysroot, *owner;
	int ends[2]; /* the guardian's and the caller's */
};

static void become_guardian(void *context)
{
	const struct guarded *g = context;
	const int end = g->ends[0];
	char byte;
	ssize_t n;

	close(g->ends[1]);
	setsid();
	byte = leave_group(g->sysroot) ? SAFE : SHARED;
	if (write(end, &byte, 1) < 0)
		_exit(1);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	write_signals_ignore();
	do
		n = read(end, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		restore_for(g->sysroot, g->owner);
}

struct guardian {
	pid_t pid;
	/* of the socket; a byte from the guardian means that it is ready, one from the caller
	 * that everything is fine */
	int end;
	bool is_safe; /* it has left the control group */
};

static int guardian_start(struct guardian *g, const char *sysroot, const char *owner, struct err *e)
{
	struct guarded guarded = {sysroot, owner, {-1, -1}};
	int *ends = guarded.ends, rc = 0;
	char byte;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return err_sys(e, -errno, NULL, "make a pair of sockets");
	fflush(stdout);
	g->pid = spawn_function(become_guardian, &guarded);
	if (g->pid < 0)
		rc = err_sys(e, g->pid, NULL, "start a process");
	close(ends[0]);
	if (!rc && read(ends[1], &byte, 1) != 1)
		rc = err_set(e, -EPIPE, STATUS_FAILED, "the guardian", "start", "it ended at once");
	if (rc)
		close(ends[1]);
	g->end = rc ? -1 : ends[1];
	g->is_safe = !rc && byte == SAFE;
	return rc;
}

/* 0, or with `strict` the reason not to apply anything. */
static int check_safety(const struct guardian *g, const struct machine *m, bool strict, struct err *e)
{
	char *group = g->is_safe ? NULL : cgroups_own(m);
	int rc = 0;

	if (group && strict)
		rc = err_set(e, -ENOTSUP, STATUS_IMPOSSIBLE, "the guardian", "leave the control group",
			     "%s cannot be left (--strict): control groups are read-only, or you lack rights", group);
	else if (group)
		fprintf(
		    stderr,
		    "kbtune: the guardian cannot leave the control group %s: if all of it is killed, nobody restores; "
		    "run 'kbtune restore' then\n",
		    group);
	free(group);
	return rc;
}

static void guardian_end(struct guardian *g)
{
	if (write(g->end, "", 1) < 0)
		perror("kbtune: guardian");
	close(g->end);
	waitpid(g->pid, NULL, 0);
}

enum status guardian_run(struct machine *m, const char *sysroot, bool strict,
			 enum status (*act)(struct machine *m, const char *owner, void *request, struct err *e),
			 void *request, struct err *e)
{
	struct guardian guardian = {.pid = -1, .end = -1};
	char owner[OWNER_DIGITS + 1];
	enum status status;
	int rc;

	signals_block(NULL);
	rc = random_hex(owner, OWNER_DIGITS);
	if (rc)
		err_sys(e, rc, NULL, "get random bytes");
	if (rc || guardian_start(&guardian, sysroot, owner, e))
		return STATUS_FAILED;
	status = check_safety(&guardian, m, strict, e) ? err_status(e) : act(m, owner, request, e);
	guardian_end(&guardian);
	return status;
}
