/*
 * Who may read a file of the machine. What only root may read there, only the owner may read in a capture.
 */
#ifndef KBLAT_STATE_READABLE_H
#define KBLAT_STATE_READABLE_H

#include <stdbool.h>
#include <stddef.h>

struct sysroot;

/* The folder that was checked last, as files of the same folder, and of folders near it, follow each other. */
struct readable {
	char folder[4096];
	size_t enterable; /* this many bytes of it are a folder that everybody may enter, like all folders above it */
};

/* May everybody read a file with these permissions, and enter each folder on its way? */
bool readable_by_all(struct readable *r, const struct sysroot *root, const char *path, int mode);

/* May everybody read the kernel's log? */
bool readable_kernel_log(const struct sysroot *root);

/* May everybody see the processes of all users? Not if /proc is mounted with hidepid, which its permissions do not
 * show. */
bool readable_processes(const struct sysroot *root);

#endif
