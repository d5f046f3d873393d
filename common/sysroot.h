/*
 * Rooted access to /proc, /sys, /dev and the like: every path is resolved below a root that can be
 * set, so that recorded machines serve as test data. Symbolic links cannot lead outside (open_path.h;
 * a sysroot's links are untrusted). Functions return 0 or a negative errno, which the capture records
 * as data: an absent file is a fact.
 */
#ifndef KBLAT_COMMON_SYSROOT_H
#define KBLAT_COMMON_SYSROOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

struct sysroot {
	int fd;		 /* of the root directory */
	bool live;	 /* the root is "/" */
	char path[4096]; /* as given, for messages */
};

/* Open a root; NULL or "/" is the live machine. */
int sysroot_open(struct sysroot *r, const char *path, struct err *e);
void sysroot_close(struct sysroot *r);

/*
 * Read a whole file of at most `max` bytes into a fresh, NUL-terminated buffer, which the caller
 * frees. -EFBIG if it is larger. `length` may be NULL. Reads until end of file: /proc gives short
 * reads. Never blocks on a FIFO (O_NONBLOCK; only regular files and, on the live root, character
 * devices are read).
 */
int sysroot_read(const struct sysroot *r, const char *path, size_t max, char **text, size_t *length);

/* The same, and the file's mode (unless `mode` is NULL). */
int sysroot_read_mode(const struct sysroot *r, const char *path, size_t max, char **text, size_t *length, int *mode);

/* The first line of a file without its newline and trailing blanks, in `buf` (cut if too small). */
int sysroot_line(const struct sysroot *r, const char *path, char *buf, size_t size);

/* A whole decimal (or 0x hexadecimal) number, alone in its file. -EINVAL if the file contains anything else, -ERANGE if
 * the number does not fit. */
int sysroot_int(const struct sysroot *r, const char *path, int64_t *value);

/* Write `text` with a single write(2), as kernel files require, unless the kernel accepts only a part of it; the file
 * must exist. */
int sysroot_write(const struct sysroot *r, const char *path, const char *text, size_t length);

/* The text of a symbolic link. 0 or a negative errno (-ENAMETOOLONG if `buf` is too small). */
int sysroot_readlink(const struct sysroot *r, const char *path, char *buf, size_t size);

/* The mode of a file or directory, a link followed, or a negative errno. */
int sysroot_mode(const struct sysroot *r, const char *path);

bool sysroot_exists(const struct sysroot *r, const char *path);

/*
 * The names in a directory that match the glob `pattern` (NULL: all), without "." and "..", in
 * natural order (cpu2 before cpu10). `*names` is NULL-terminated; free with sysroot_names_free. The
 * count is returned, or a negative errno.
 */
int sysroot_list(const struct sysroot *r, const char *path, const char *pattern, char ***names);
void sysroot_names_free(char **names);

/*
 * All paths that match a glob with wildcards in any component ("/sys/devices/system/cpu/cpu[0-9]*"
 * "/cpufreq/scaling_governor"), natural order. As sysroot_list.
 */
int sysroot_glob(const struct sysroot *r, const char *pattern, char ***paths);

#endif
