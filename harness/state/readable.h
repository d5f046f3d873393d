/*
 * Who may read a file of the machine: what root alone may read there, root alone reads in a capture.
 */
#ifndef KBLAT_STATE_READABLE_H
#define KBLAT_STATE_READABLE_H

#include <stdbool.h>

struct sysroot;

/* The folder that was looked at last: files of one folder follow each other. */
struct readable {
	char folder[4096];
	bool by_all;
};

/* May everybody read it, and enter each folder on its way? */
bool readable_by_all(struct readable *r, const struct sysroot *root, const char *path);

/* May everybody read the kernel's log? */
bool readable_kernel_log(const struct sysroot *root);

#endif
