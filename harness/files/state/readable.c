#include "files/state/readable.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/mountinfo.h"
#include "common/sysroot.h"

static bool is_enterable_by_all(const struct sysroot *root, const char *folder)
{
	int mode = sysroot_mode(root, folder);

	return mode >= 0 && mode & S_IXOTH;
}

/* The length of the common part of two folders' paths, up to a slash or the end of both. */
static size_t shared_length(const char *a, const char *b)
{
	size_t n = 0, shared = 0;

	for (; a[n] && a[n] == b[n]; n++)
		if (a[n] == '/')
			shared = n;
	return (!a[n] || a[n] == '/') && (!b[n] || b[n] == '/') ? n : shared;
}

/* Check each folder on the path that is not known from the previous path. */
static void enter(struct readable *r, const struct sysroot *root, const char *folder, size_t length)
{
	char next[sizeof(r->folder)];
	size_t shared;

	snprintf(next, sizeof(next), "%.*s", (int)length, folder);
	shared = shared_length(r->folder, next);
	if (r->enterable > shared)
		r->enterable = shared;
	memcpy(r->folder, next, length + 1);
	while (r->enterable < length) {
		size_t end = r->enterable + 1 + strcspn(next + r->enterable + 1, "/");

		next[end] = '\0';
		if (!is_enterable_by_all(root, next))
			return;
		next[end] = r->folder[end];
		r->enterable = end;
	}
}

bool readable_by_all(struct readable *r, const struct sysroot *root, const char *path, int mode)
{
	const char *slash = strrchr(path, '/');
	size_t n = slash && slash > path ? (size_t)(slash - path) : 0;

	if (!(mode & S_IROTH) || n >= sizeof(r->folder))
		return false;
	if (n && (strncmp(r->folder, path, n) || r->folder[n]))
		enter(r, root, path, n);
	return !n || r->enterable == n;
}

bool readable_kernel_log(const struct sysroot *root)
{
	int64_t restricted;

	return !sysroot_int(root, "/proc/sys/kernel/dmesg_restrict", &restricted) && !restricted;
}

bool readable_processes(const struct sysroot *root)
{
	struct mounts all = mounts_read(root);
	struct mount_line m;
	bool is_hidden = false;

	while (!is_hidden && mounts_next(&all, &m))
		is_hidden = !strcmp(m.kind, "proc") && !strcmp(m.where, "/proc") && strstr(m.super, "hidepid=");
	mounts_free(&all);
	return !is_hidden;
}
