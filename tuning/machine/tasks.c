#include "tuning/machine/tasks.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/text.h"
#include "tuning/machine/machine.h"

/* include/linux/sched.h */
#define PF_KTHREAD	  0x00200000UL
#define PF_NO_SETAFFINITY 0x04000000UL

#define MASK_BYTES	 (CPULIST_MAX / 8)
#define COMMAND_LINE_MAX ((size_t)4 << 20)
#define NAME_WORDS	 4

/* "TID (name) S ppid … flags(9th) … starttime(22nd) … rt_priority(40th) policy". A program may choose any name, including
 * parentheses, newlines and control characters, so fields are counted from the last parenthesis. */
int tasks_read_stat(const char *text, struct thread *t)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	unsigned long flags;

	if (!open || !close || close < open)
		return -EINVAL;
	text_clean(open + 1, (size_t)(close - open - 1), t->name, sizeof(t->name));
	t->policy = -1;
	if (sscanf(close + 1,
		   " %*c %d %*d %*d %*d %*d %lu %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu %*s %*s %*s %*s "
		   "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %d %d",
		   &t->parent, &flags, &t->start, &t->priority, &t->policy) < 3)
		return -EINVAL;
	t->state = close[1] ? close[2] : '\0';
	t->is_kernel = flags & PF_KTHREAD;
	t->is_bound = flags & PF_NO_SETAFFINITY;
	return 0;
}

int tasks_status(const struct machine *m, const char *of, const char *key, char *buf, size_t size)
{
	char *path = fs_path("/proc/%s/status", of), *start = fs_path("%s:", key), *text;
	int rc = machine_read(m, path, &text);

	if (!rc) {
		char *rest = text, *line;

		while ((line = strsep(&rest, "\n")) && strncmp(line, start, strlen(start)) != 0)
			;
		rc = line ? 0 : -ENODATA;
		if (line) {
			line += strlen(start);
			snprintf(buf, size, "%s", line + strspn(line, " \t"));
		}
		free(text);
	}
	free(start);
	free(path);
	return rc;
}

/* Not sched_getaffinity(), which leaves out CPUs that are offline. */
static int allowed_cpus(const struct machine *m, int pid, int tid, struct cpulist *cpus)
{
	char *of = fs_path("%d/task/%d", pid, tid), list[CPULIST_TEXT_MAX];
	int rc = tasks_status(m, of, "Cpus_allowed_list", list, sizeof(list)) ?: cpulist_parse(list, cpus, NULL, 0);

	free(of);
	return rc;
}

static int read_stat_at(const struct machine *m, const char *path, struct thread *t)
{
	char *text;
	int rc = machine_read(m, path, &text);

	if (rc)
		return rc;
	rc = tasks_read_stat(text, t);
	free(text);
	return rc;
}

int tasks_read(const struct machine *m, int pid, int tid, struct thread *t)
{
	char path[64];

	*t = (struct thread){.pid = pid, .tid = tid};
	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	if (read_stat_at(m, path, t))
		return -ESRCH;
	return allowed_cpus(m, pid, tid, &t->cpus) ? -ESRCH : 0;
}

static int each_of(const struct machine *m, int pid, int (*visit)(const struct thread *, void *), void *context)
{
	char path[64], **tids;
	struct thread t;
	int n, rc = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	n = sysroot_list(&m->root, path, "[0-9]*", &tids);
	for (int i = 0; i < n && !rc; i++)
		if (!tasks_read(m, pid, atoi(tids[i]), &t))
			rc = visit(&t, context);
	if (n >= 0)
		sysroot_names_free(tids);
	return rc;
}

int tasks_each(const struct machine *m, int (*visit)(const struct thread *t, void *context), void *context)
{
	char **pids;
	int n = sysroot_list(&m->root, "/proc", "[0-9]*", &pids), rc = 0;

	if (n < 0)
		return 0;
	for (int i = 0; i < n && !rc; i++)
		rc = each_of(m, atoi(pids[i]), visit, context);
	sysroot_names_free(pids);
	return rc;
}

int tasks_schedule(struct machine *m, int tid, int policy, int priority)
{
	if (!m->root.live)
		return 0;
	if (sched_setscheduler(tid, policy, &(struct sched_param){.sched_priority = priority}))
		return -errno;
	machine_changed(m);
	return 0;
}

int tasks_place(struct machine *m, int tid, const struct cpulist *cpus)
{
	unsigned long mask[MASK_BYTES / sizeof(unsigned long)];

	if (!m->root.live)
		return 0;
	memcpy(mask, cpus->bits, sizeof(mask));
	if (sched_setaffinity(tid, sizeof(mask), (cpu_set_t *)mask))
		return -errno;
	machine_changed(m);
	return 0;
}

char *tasks_cpuset(const struct machine *m, int pid, char *buf, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/cpuset", pid);
	if (sysroot_line(&m->root, path, buf, size))
		buf[0] = '\0';
	return buf;
}

/* A recorded machine may not have the file: then this is assumed to be true. */
static bool is_of_root(const struct machine *m, const char *pid)
{
	char users[64];
	const int rc = tasks_status(m, pid, "Uid", users, sizeof(users));

	return rc == -ENOENT ? !m->root.live : !rc && !strtoul(users, NULL, 10);
}

/* "/usr/sbin/irqbalance", "/usr/bin/python3 -Es /usr/sbin/tuned": one of the first words. */
static bool was_started_as(const struct machine *m, const char *pid, const char *name)
{
	char *path = fs_path("/proc/%s/cmdline", pid), *text;
	size_t length, at = 0;
	int rc = sysroot_read(&m->root, path, COMMAND_LINE_MAX, &text, &length);
	bool is = rc == -ENOENT && !m->root.live;

	free(path);
	if (rc)
		return is;
	for (int i = 0; i < NAME_WORDS && at < length && !is; i++, at += strlen(text + at) + 1) {
		const char *slash = strrchr(text + at, '/');

		is = !strcmp(slash ? slash + 1 : text + at, name);
	}
	free(text);
	return is;
}

static bool is_program(const struct machine *m, const char *pid, const char *name)
{
	char *path = fs_path("/proc/%s/comm", pid), *text;
	int rc = machine_read(m, path, &text);
	bool is;

	free(path);
	if (rc)
		return false;
	text[strcspn(text, "\n")] = '\0';
	is = !strcmp(text, name);
	free(text);
	return is && is_of_root(m, pid) && was_started_as(m, pid, name);
}

int tasks_find(const struct machine *m, const char *name)
{
	char **pids;
	int n = sysroot_list(&m->root, "/proc", "[0-9]*", &pids), found = 0;

	for (int i = 0; i < n && !found; i++)
		if (is_program(m, pids[i], name))
			found = atoi(pids[i]);
	if (n >= 0)
		sysroot_names_free(pids);
	return found;
}
