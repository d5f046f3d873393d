/*
 * Our own files and directories. Everything is created with O_NOFOLLOW | O_CLOEXEC, so nothing is ever written through
 * a symbolic link that somebody else has put there.
 */
#ifndef KBLAT_COMMON_FS_H
#define KBLAT_COMMON_FS_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

struct err;

/* mkdir -p; an existing directory is fine, anything else in the way is an error. */
int fs_mkdirs(const char *path, struct err *e);

/* Write a whole file: `<path>.tmp`, fsync, rename. */
int fs_write(const char *path, const void *data, size_t size, struct err *e);

/* The same with these permissions, minus the umask; of several parts. */
int fs_write_mode(const char *path, const void *data, size_t size, mode_t mode, struct err *e);
int fs_write_parts(const char *path, const struct iovec *part, size_t parts, mode_t mode, struct err *e);

/* All of it, to an open file. 0 or a negative errno. */
int fs_write_fd(int fd, const void *data, size_t size);

/*
 * A directory made by somebody else, especially a run directory, may contain links that lead out of it. The functions
 * below do not follow links in any component of a path, and refuse "..". If a path begins with the result of
 * realpath(), what is appended to it stays below that directory.
 */

/* A descriptor for reading (`flags`: O_DIRECTORY, O_PATH), or a negative errno, -ELOOP at a link. Never waits for the other
 * end of a FIFO. */
int fs_open(const char *path, int flags);

/* Does nothing with this name exist? A link counts as existing, even if it leads nowhere; reading it then reports the
 * error. */
bool fs_is_missing(const char *path);

/* The same, but an empty regular file counts as missing, too: after a failure of the machine or the disk, only the name
 * of a file may be left. */
bool fs_is_missing_or_empty(const char *path);

/* Is there a directory of this name, or a link to one? */
bool fs_is_directory(const char *path);

/* scandir(3): the count or a negative errno. */
int fs_scandir(const char *path, struct dirent ***names, int (*filter)(const struct dirent *),
	       int (*compare)(const struct dirent **, const struct dirent **));

/* A filter for it: names that do not begin with a dot. */
int fs_is_visible(const struct dirent *d);

/* Read a whole regular file of at most `max` bytes; the caller frees; NUL-terminated. */
int fs_read(const char *path, size_t max, char **data, size_t *size, struct err *e);

/* The same for a file that is open, and is closed; `path` is for messages. `fd` may be a negative errno: why it could not
 * be opened. */
int fs_read_opened(int fd, const char *path, size_t max, char **data, size_t *size, struct err *e);

/* The same for a file named by the user or the system: links are followed. */
int fs_read_followed(const char *path, size_t max, char **data, size_t *size, struct err *e);

/* The rest of an open file, likewise: 0, -EFBIG or another negative errno. Reads until end of file,
 * so /proc's short reads do no harm. */
int fs_read_fd(int fd, size_t max, char **data, size_t *size);

/* fsync a file or directory by path. */
int fs_sync(const char *path, struct err *e);

/* Remove a tree of our own, never following links or crossing to another file system. A missing one
 * is fine. */
int fs_remove_tree(const char *path, struct err *e);

/* All regular files below `dir`, as relative paths, sorted bytewise; NULL-terminated; free with
 * fs_files_free. Links and special files are an error: a run directory has none. */
int fs_files(const char *dir, char ***files, size_t *count, struct err *e);
void fs_files_free(char **files);

/* Bytes free for this user on the file system of `path`. */
int fs_free_bytes(const char *path, unsigned long long *bytes, struct err *e);

/* asprintf that aborts if there is no memory; the caller frees. */
char *fs_path(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A program's path, as a shell finds it, with links followed; NULL: there is none. The caller frees. */
char *fs_program(const char *name);

#endif
