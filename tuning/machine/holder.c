#include "tuning/machine/holder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/spawn.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/process.h"

#define STEP_MS	  5
#define KILLED_MS 2000

static int open_hold(struct machine *m, const char *name, int flags)
{
	char file[64];
	int fd;

	snprintf(file, sizeof(file), "hold-%s", name);
	fd = openat(m->state_fd, file, flags | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

static void remove_hold(struct machine *m, const char *name)
{
	char file[64];

	snprintf(file, sizeof(file), "hold-%s", name);
	unlinkat(m->state_fd, file, 0);
}

static bool is_held(int fd)
{
	if (flock(fd, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK;
	flock(fd, LOCK_UN);
	return false;
}

/* The process is written at the start, or a moment later: "PID START". Earlier versions wrote only its ID. */
static struct process read_owner(int fd)
{
	char text[64] = "";
	struct process p = {0};

	if (pread(fd, text, sizeof(text) - 1, 0) > 0 && strchr(text, '\n'))
		sscanf(text, "%d %llu", &p.pid, &p.start);
	return p;
}

static int write_owner(int fd, pid_t pid)
{
	const struct process p = process_of(pid);

	return ftruncate(fd, 0) || dprintf(fd, "%d %llu\n", (int)p.pid, p.start) < 0 ? -errno : 0;
}

/* Close the descriptors from `first` to `last`, whatever the limit of their number has been. */
static void close_between(unsigned first, unsigned last)
{
	DIR *own;
	const struct dirent *d;

	if (first > last || !close_range(first, last, 0))
		return;
	own = opendir("/proc/self/fd"); /* before Linux 5.9 */
	while (own && (d = readdir(own))) {
		const unsigned fd = (unsigned)strtoul(d->d_name, NULL, 10);

		if (fd >= first && fd <= last && fd != (unsigned)dirfd(own))
			close((int)fd);
	}
	if (own)
		closedir(own);
}

/* Close all but the standard streams and these two. */
static void close_others(unsigned a, unsigned b)
{
	const unsigned low = a < b ? a : b, high = a < b ? b : a;

	close_between(STDERR_FILENO + 1, low - 1);
	close_between(low + 1, high - 1);
	close_between(high + 1, UINT_MAX);
}

struct holder_run {
	int lock, ready;
	void (*run)(int ready, void *context);
	void *context;
};

/* Only the lock stays open; it is held as long as the process exists, including programs that it executes. */
static void become_holder(void *context)
{
	const struct holder_run *h = context;
	int null = open("/dev/null", O_RDWR);
	sigset_t none;

	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	if (chdir("/"))
		_exit(1);
	fcntl(h->lock, F_SETFD, 0);
	if (write_owner(h->lock, getpid()))
		_exit(1);
	close_others((unsigned)h->lock, (unsigned)h->ready);
	h->run(h->ready, h->context);
	_exit(1);
}

static int await_ready(int ready, int limit_ms, const char *name, struct err *e)
{
	struct pollfd p = {.fd = ready, .events = POLLIN};
	char said[512];
	ssize_t n;

	if (poll(&p, 1, limit_ms) <= 0)
		return err_set(e, -ETIMEDOUT, STATUS_FAILED, name, "hold", "it was not ready after %d s",
			       limit_ms / 1000);
	n = read(ready, said, sizeof(said) - 1);
	if (n > 0 && said[0] == '\0')
		return 0;
	said[n > 0 ? n : 0] = '\0';
	return err_set(e, -EIO, STATUS_FAILED, name, "hold", "%s", n > 0 ? said : "its process ended at once");
}

int holder_start(struct machine *m, const char *name, void (*run)(int ready, void *context), void *context,
		 int limit_ms, struct err *e)
{
	int lock = open_hold(m, name, O_CREAT), ready[2], rc;

	if (lock < 0)
		return err_sys(e, lock, name, "make the file of its holder");
	if (flock(lock, LOCK_EX | LOCK_NB)) {
		close(lock);
		return err_set(e, -EBUSY, STATUS_FAILED, name, "hold", "a process holds it already");
	}
	if (ftruncate(lock, 0) || pipe2(ready, O_CLOEXEC)) {
		rc = err_sys(e, -errno, name, "hold");
		close(lock);
		return rc;
	}
	rc = spawn_orphan(become_holder, &(struct holder_run){lock, ready[1], run, context});
	close(lock);
	close(ready[1]);
	rc = rc ? err_sys(e, rc, name, "start a process") : await_ready(ready[0], limit_ms, name, e);
	close(ready[0]);
	if (rc)
		holder_stop(m, name, 2000, NULL);
	else
		machine_changed(m);
	return rc;
}

pid_t holder_pid(struct machine *m, const char *name)
{
	int fd = m->state_fd < 0 ? -ENOENT : open_hold(m, name, 0);
	pid_t pid = 0;

	if (fd < 0)
		return 0;
	if (is_held(fd))
		pid = read_owner(fd).pid;
	close(fd);
	return pid;
}

static bool await_end(int fd, int limit_ms)
{
	struct timespec pause = {.tv_nsec = STEP_MS * 1000000};

	for (int ms = 0; is_held(fd); ms += STEP_MS) {
		if (ms >= limit_ms)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

int holder_lock(struct machine *m, const char *name, int limit_ms, struct err *e)
{
	int rc = holder_await(m, name, limit_ms, e), fd;

	if (rc)
		return rc;
	fd = open_hold(m, name, O_CREAT);
	if (fd >= 0 && (flock(fd, LOCK_EX | LOCK_NB) || ftruncate(fd, 0))) {
		rc = -errno;
		close(fd);
		fd = rc;
	}
	return fd < 0 ? err_sys(e, fd, name, "lock the file of its process") : fd;
}

void holder_write_pid(int fd, pid_t pid)
{
	/* If /run is full, it is missing, so that others can only wait for the lock. */
	if (write_owner(fd, pid))
		return;
}

void holder_unlock(struct machine *m, const char *name, int fd)
{
	remove_hold(m, name);
	close(fd);
}

/* If the process has ended and only a child of it still holds the lock, there is nothing to signal. */
static int end_holder(int fd, int limit_ms)
{
	struct timespec pause = {.tv_nsec = STEP_MS * 1000000};
	struct process owner = read_owner(fd);

	for (int i = 0; !owner.pid && i < 200 && is_held(fd); i++) {
		nanosleep(&pause, NULL);
		owner = read_owner(fd);
	}
	if (!is_held(fd))
		return 0;
	if (owner.pid <= 0)
		return -ESRCH;
	process_signal(&owner, SIGTERM);
	if (await_end(fd, limit_ms))
		return 0;
	process_signal(&owner, SIGKILL);
	return await_end(fd, KILLED_MS) ? 0 : -ETIMEDOUT;
}

int holder_stop(struct machine *m, const char *name, int limit_ms, struct err *e)
{
	int fd = open_hold(m, name, 0), rc;

	if (fd == -ENOENT)
		return 0;
	rc = fd < 0 ? fd : end_holder(fd, limit_ms);
	if (fd >= 0)
		close(fd);
	if (!rc) {
		remove_hold(m, name);
		machine_changed(m);
	}
	return rc ? err_sys(e, rc, name, "end the process that holds it") : 0;
}

int holder_await(struct machine *m, const char *name, int limit_ms, struct err *e)
{
	int fd = open_hold(m, name, 0), rc = 0;

	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		rc = fd;
	else if (!await_end(fd, limit_ms))
		rc = end_holder(fd, STEP_MS);
	if (fd >= 0)
		close(fd);
	if (!rc)
		remove_hold(m, name);
	return rc ? err_sys(e, rc, name, "wait for its process to end") : 0;
}
