#include "measure/trace/trace_place.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <tracefs.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/sysroot.h"

#define PREFIX "kblat-"

/* --- tracefs --- */

/* A detached mount, which ends with its descriptor. -1 with errno. */
static int mount_detached(void)
{
	int fs = fsopen("tracefs", FSOPEN_CLOEXEC), fd = -1, why;

	if (fs >= 0 && fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		fd = fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	why = errno;
	if (fs >= 0)
		close(fs);
	errno = why;
	return fd;
}

/* Is the kernel locked down for confidentiality, so that even root may not trace? */
static bool trace_place_is_locked(void)
{
	struct sysroot root;
	char lockdown[128] = "";

	if (!sysroot_open(&root, NULL, NULL)) {
		sysroot_line(&root, "/sys/kernel/security/lockdown", lockdown, sizeof(lockdown));
		sysroot_close(&root);
	}
	return strstr(lockdown, "[confidentiality]");
}

int trace_place_refuse(int why, struct err *e)
{
	char cause[128];

	if (trace_place_is_locked())
		return err_set(e, -EPERM, STATUS_IMPOSSIBLE, "tracefs", NULL,
			       "the kernel is locked down (confidentiality) and cannot be traced");
	if ((why == EPERM || why == EACCES) && !geteuid())
		return err_set(e, -why, STATUS_IMPOSSIBLE, "tracefs", NULL,
			       "is refused even to root: a container without the capability CAP_SYS_ADMIN, or a kernel "
			       "that is locked down (lockdown=confidentiality)");
	if (why == EPERM || why == EACCES)
		return err_set(
		    e, -why, STATUS_IMPOSSIBLE, "tracefs", NULL,
		    "you have no access; run kblat as root, or give tracefs to one of your groups (mount option gid=)");
	if (why == ENODEV || why == ENOENT)
		return err_set(e, -why, STATUS_IMPOSSIBLE, "tracefs", NULL,
			       "this kernel has none (CONFIG_FTRACE), or is locked down (lockdown=confidentiality)");
	return err_set(e, -why, STATUS_IMPOSSIBLE, "tracefs", NULL, "cannot be mounted: %s",
		       err_cause(-why, cause, sizeof(cause)));
}

/* 0, or an errno. */
static int try_directory(const char *path)
{
	char instances[128];

	snprintf(instances, sizeof(instances), "%s/instances", path);
	return access(instances, W_OK | X_OK) ? errno : 0;
}

/* 0 or an errno; if nothing can be mounted, that of the other places, `why`. */
static int trace_place_mount(char *place, size_t size, int why)
{
	const int fd = mount_detached();

	if (fd < 0)
		return why == ENOENT ? errno : why;
	snprintf(place, size, "/proc/self/fd/%d", fd);
	why = try_directory(place);
	if (why) {
		close(fd);
		*place = '\0';
	}
	return why;
}

const char *trace_place(struct err *e)
{
	static const char *const mounted[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	static char place[64];
	int why = ENOENT;

	for (size_t i = 0; !*place && i < sizeof(mounted) / sizeof(mounted[0]); i++) {
		int rc = try_directory(mounted[i]);

		if (!rc)
			snprintf(place, sizeof(place), "%s", mounted[i]);
		else if (rc != ENOENT)
			why = rc;
	}
	if (!*place) {
		why = trace_place_mount(place, sizeof(place), why);
		if (why) {
			trace_place_refuse(why, e);
			return NULL;
		}
	}
	/* Otherwise the library would search for one itself, and mount it. */
	if (tracefs_set_tracing_dir(place)) {
		trace_place_refuse(errno ? errno : ENOENT, e);
		return NULL;
	}
	return place;
}

/* --- instances --- */

#define UNKNOWN 0ULL

/* The 22nd field of /proc/<pid>/stat, or UNKNOWN; `*ended`: the process has ended, even if its parent has not noticed. */
static unsigned long long started_at(long pid, bool *ended)
{
	char path[64], *text = NULL, *at;
	unsigned long long started = UNKNOWN;
	size_t size;

	*ended = kill((pid_t)pid, 0) && errno == ESRCH;
	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	if (*ended || fs_read_followed(path, 4096, &text, &size, NULL))
		return UNKNOWN;
	at = strrchr(text, ')');
	*ended = at && (at[2] == 'Z' || at[2] == 'X');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (at)
		started = strtoull(at, NULL, 10);
	free(text);
	return started;
}

/* Process IDs are only meaningful within one PID namespace. */
static unsigned long long pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? 0 : (unsigned long long)st.st_ino;
}

int trace_place_check_ids(struct err *e)
{
	enum { INITIAL = 0xEFFFFFFC }; /* include/linux/proc_ns.h: PROC_PID_INIT_INO */
	const unsigned long long ns = pid_namespace();

	return !ns || ns == (unsigned)INITIAL
		   ? 0
		   : err_set(e, -ENOTSUP, STATUS_IMPOSSIBLE, "tracefs", NULL,
			     "in a PID namespace (a container) the kernel's events name threads by IDs that are not "
			     "known here; run it on the host, or with the host's PID namespace");
}

char *trace_place_name(char *buf)
{
	static unsigned count;
	bool ended;

	snprintf(buf, TRACE_INSTANCE_NAME, PREFIX "%llu-%ld-%llu-%u", pid_namespace(), (long)getpid(),
		 started_at(getpid(), &ended), count++);
	return buf;
}

/* With hidepid, the processes of other users exist although /proc does not show when they were started. */
static bool has_ended(long pid, unsigned long long started)
{
	bool ended;
	const unsigned long long now = started_at(pid, &ended);

	return ended || (now != UNKNOWN && now != started);
}

char *trace_place_probes(char *buf)
{
	trace_place_name(buf);
	for (char *at = buf; *at; at++)
		if (*at == '-')
			*at = '_';
	return buf;
}

/* A name that `format` reads, of a process that has ended. */
static bool is_left(const char *name, const char *format)
{
	unsigned long long ns, started;
	unsigned count;
	long pid;
	int end = 0;

	return sscanf(name, format, &ns, &pid, &started, &count, &end) == 4 && !name[end] && pid > 0 &&
	       ns == pid_namespace() && has_ended(pid, started);
}

static int is_abandoned(const struct dirent *d)
{
	return is_left(d->d_name, PREFIX "%llu-%ld-%llu-%u%n");
}

/* "p:kblat_…/from /usr/bin/program:0x1234 …": events that no instance has enabled any more. */
static int sweep_probes(void)
{
	char *text = tracefs_instance_file_read(NULL, "uprobe_events", NULL), *rest = text, *line;
	int removed = 0;

	while ((line = strsep(&rest, "\n"))) {
		char system[TRACE_INSTANCE_NAME], event[32], *command;

		if (sscanf(line, "%*c:%95[^/]/%31s", system, event) != 2 ||
		    !is_left(system, "kblat_%llu_%ld_%llu_%u%n"))
			continue;
		command = fs_path("-:%s/%s", system, event);
		removed += tracefs_instance_file_append(NULL, "uprobe_events", command) > 0;
		free(command);
	}
	free(text);
	return removed;
}

int trace_place_sweep(void)
{
	const char *place = trace_place(NULL);
	char *dir = place ? fs_path("%s/instances", place) : NULL;
	struct dirent **names = NULL;
	int n = dir ? scandir(dir, &names, is_abandoned, NULL) : 0, removed = 0;

	for (int i = 0; i < n; i++) {
		char *path = fs_path("%s/%s", dir, names[i]->d_name);

		removed += !rmdir(path);
		free(path);
		free(names[i]);
	}
	free(names);
	free(dir);
	return removed + (place ? sweep_probes() : 0);
}
