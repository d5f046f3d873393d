/*
 * A version 1 hierarchy of cpusets that is mounted where libcpuset knows it is changed by that library; any other, and in
 * a build without the library all, by its files.
 */
#ifndef KBLAT_TUNING_CPUSET_LIBRARY_H
#define KBLAT_TUNING_CPUSET_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct cpuset_wanted {
	const char *cpus, *memory; /* lists */
	bool is_exclusive;
};

/* Is the library there, for what is mounted at that path? */
bool cpuset_library_knows(const char *mounted_at);

/* `path`: below the hierarchy's root, "/real-time-0". 0 or a negative errno; -EINVAL with the library's words in `why`. */
int cpuset_library_make(const char *path, const struct cpuset_wanted *w, char *why, size_t size);
int cpuset_library_remove(const char *path);

/* 0: the caller. */
int cpuset_library_move(pid_t tid, const char *path);

#endif
