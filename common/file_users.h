/*
 * Which processes have a file open, by their descriptors in /proc.
 */
#ifndef KBLAT_COMMON_FILE_USERS_H
#define KBLAT_COMMON_FILE_USERS_H

#include <stdbool.h>

struct sysroot;

/* Told of a process and its name as it calls itself ("?": unknown); false: enough. */
typedef bool file_user_told(void *arg, int pid, const char *name);

/*
 * Tell of each process that has one of these files open, in order of their IDs. Paths are compared as they are. How
 * many processes may not be examined is returned, or a negative errno if /proc cannot be read (-ENOENT: it has no
 * processes).
 */
int file_users(const struct sysroot *r, const char *const *files, file_user_told *tell, void *arg);

/* The first of them: its ID, and its name in `name` of FILE_USER_MAX bytes; 0: nobody, as far as that can be seen. */
#define FILE_USER_MAX 64
int file_users_first(const struct sysroot *r, const char *const *files, char *name);

#endif
