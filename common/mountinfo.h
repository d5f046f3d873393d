/* What is mounted: /proc/self/mountinfo and its lines, man 5 proc_pid_mountinfo. */
#ifndef KBLAT_MOUNTINFO_H
#define KBLAT_MOUNTINFO_H

#include <stdbool.h>

#include "common/sysroot.h"

/* "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup cgroup rw,cpuset" */
struct mount_line {
	const char *root, *where; /* "/", "/sys/fs/cgroup": what of the file system is seen there */
	const char *options;	  /* "rw,relatime": of the mount */
	const char *kind;	  /* "cgroup": of the file system */
	const char *super;	  /* "rw,cpuset": options of the file system */
};

/* Splits a line, whose parts `m` points to; false: it is none. */
bool mount_line_read(char *line, struct mount_line *m);

/* What is mounted for this process, read at once. Without a file that can be read there is nothing. */
struct mounts {
	char *text, *rest;
};

struct mounts mounts_read(const struct sysroot *root);

/* The next one; false: that was the last. `m` points into what was read. */
bool mounts_next(struct mounts *all, struct mount_line *m);
void mounts_free(struct mounts *all);

/* Has a list of options this one? */
bool mount_has_option(const char *options, const char *name);

#endif
