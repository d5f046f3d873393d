#include "common/file_users.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/sysroot.h"
#include "common/text.h"

/* So many descriptors are looked at, on a machine that has more. */
#define DESCRIPTORS_MAX 200000

/* 1, 0, or -EACCES if that cannot be seen, -ENOENT if the process is gone. */
static int is_user(const struct sysroot *r, const char *pid, const char *const *files, size_t *budget)
{
	char path[PATH_MAX], target[PATH_MAX], **fds;
	bool found = false;
	int n;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	n = sysroot_list(r, path, NULL, &fds);
	if (n < 0)
		return n;
	for (int i = 0; i < n && !found && *budget; i++, --*budget) {
		snprintf(path, sizeof(path), "/proc/%s/fd/%s", pid, fds[i]);
		found = !sysroot_readlink(r, path, target, sizeof(target)) && text_is_among(target, files);
	}
	sysroot_names_free(fds);
	return found;
}

static void read_name(const struct sysroot *r, const char *pid, char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%.32s/comm", pid);
	if (sysroot_line(r, path, name, FILE_USER_MAX))
		snprintf(name, FILE_USER_MAX, "?");
}

int file_users(const struct sysroot *r, const char *const *files, file_user_told *tell, void *arg)
{
	size_t budget = DESCRIPTORS_MAX;
	char **pids, name[FILE_USER_MAX];
	bool is_enough = false;
	int n = sysroot_list(r, "/proc", "[0-9]*", &pids), hidden = 0;

	if (n < 0)
		return n;
	for (int i = 0; i < n && !is_enough; i++) {
		const int rc = is_user(r, pids[i], files, &budget);

		hidden += rc == -EACCES || rc == -EPERM;
		if (rc <= 0)
			continue;
		read_name(r, pids[i], name);
		is_enough = !tell(arg, atoi(pids[i]), name);
	}
	sysroot_names_free(pids);
	return n ? hidden : -ENOENT;
}

struct first {
	int pid;
	char *name;
};

static bool keep_first(void *arg, int pid, const char *name)
{
	struct first *first = arg;

	first->pid = pid;
	snprintf(first->name, FILE_USER_MAX, "%s", name);
	return false;
}

int file_users_first(const struct sysroot *r, const char *const *files, char *name)
{
	struct first first = {.name = name};

	snprintf(name, FILE_USER_MAX, "?");
	file_users(r, files, keep_first, &first);
	return first.pid;
}
