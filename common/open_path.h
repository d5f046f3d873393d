/*
 * Opens what somebody else has made, and whose symbolic links are not trusted: with openat2(2), or where there is none
 * (before Linux 5.6, in a sandbox that refuses it, under qemu-user) component by component with openat(2), which
 * keeps the same promises.
 */
#ifndef KBLAT_COMMON_OPEN_PATH_H
#define KBLAT_COMMON_OPEN_PATH_H

enum path_links {
	LINKS_REFUSED, /* -ELOOP at a link in any component, -EXDEV if there is a ".." */
	LINKS_INSIDE,  /* followed, but "/" is the folder `at`, and neither a link nor ".." leads out of it */
};

/* Open `path` relative to the folder `at` (with LINKS_REFUSED also AT_FDCWD, and `path` may be absolute). A descriptor
 * with O_CLOEXEC, or a negative errno. `flags` as for open(2), but without O_CREAT. */
int open_path(int at, const char *path, int flags, enum path_links links);

/* The same, without openat2 even where it exists: for tests. Folders may be 100 deep with LINKS_INSIDE. */
int open_path_by_steps(int at, const char *path, int flags, enum path_links links);

#endif
