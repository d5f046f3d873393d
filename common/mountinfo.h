/* Lines of /proc/PID/mountinfo: man 5 proc_pid_mountinfo. */
#ifndef KBLAT_MOUNTINFO_H
#define KBLAT_MOUNTINFO_H

#include <stdbool.h>

/* "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup cgroup rw,cpuset" */
struct mount_line {
	const char *root, *where; /* "/", "/sys/fs/cgroup": what of the file system is seen there */
	const char *options;	  /* "rw,relatime": of the mount */
	const char *kind;	  /* "cgroup": of the file system */
	const char *super;	  /* "rw,cpuset": options of the file system */
};

/* Splits a line, whose parts `m` points to; false: it is none. */
bool mount_line_read(char *line, struct mount_line *m);

/* Has a list of options this one? */
bool mount_has_option(const char *options, const char *name);

#endif
