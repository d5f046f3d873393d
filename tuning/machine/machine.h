/*
 * The machine that is tuned: the live one, or a recorded one below a root (--sysroot), where
 * "writes" change plain files. All changes go through here, so they can be counted, refused as a
 * recorded machine's habits say, and cut short by a SIGKILL in tests. Functions return 0 or a
 * negative errno.
 */
#ifndef KBLAT_TUNING_MACHINE_H
#define KBLAT_TUNING_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "common/sysroot.h"

struct cpulist;
struct err;

/* The maximum size of a kernel file that we change and restore. */
#define MACHINE_VALUE_MAX 65536

/* The kernel's own ENOTSUPP, which some of its files let out. */
#define MACHINE_ENOTSUPP 524

struct habit; /* one line of a recorded machine's /habits */

struct machine {
	struct sysroot root;
	struct habit *habits;
	size_t habit_count;
	long writes; /* so far */
	/* kill this process by SIGKILL after this many; -1: never. From KBTUNE_KILL_AFTER, for
	 * tests */
	long kill_after;
	int state_fd; /* the folder of the journal and the holders, once opened (see state_folder.h); or -1 */
};

/* Open the machine at `sysroot` (NULL: $KBTUNE_SYSROOT, for programs that run us in tests; or this
 * one). */
int machine_open(struct machine *m, const char *sysroot, struct err *e);
void machine_close(struct machine *m);

/*
 * Write a value with one write(2). The recorded machine's /habits may say otherwise, in lines of
 *   PATH write ERRNO     a write to that path fails so (EIO, EPERM, EROFS, EBUSY, EINVAL)
 *   PATH reads TEXT      after a write the file holds TEXT, as a kernel does that accepts and then knows better
 *   PATH sets OTHER TEXT after a write another file holds TEXT; there may be several
 */
int machine_write(struct machine *m, const char *path, const char *text, size_t length);

/* The error with which a recorded machine refuses to write there, or 0. */
int machine_refuses(const struct machine *m, const char *path);

/* Create folders (control groups) and files; parents must exist. machine_create replaces a regular
 * file by a new one. */
int machine_mkdir(struct machine *m, const char *path);
int machine_rmdir(struct machine *m, const char *path);
int machine_create(struct machine *m, const char *path, const char *text, size_t length, mode_t mode);
int machine_unlink(struct machine *m, const char *path);

/* To be called after a change by other means (a library, sched_setaffinity), which counts like a write. */
void machine_changed(struct machine *m);

/* Permission bits of a file; whether we may write it: 0, -EACCES, -EROFS, -ENOENT, ... */
int machine_mode(const struct machine *m, const char *path, mode_t *mode);
int machine_may_write(const struct machine *m, const char *path);

/* The same, with the reason in words if we may not. */
int machine_foresee_write(const struct machine *m, const char *path, char *why, size_t size);

/* The text of a whole file; at most MACHINE_VALUE_MAX, -EILSEQ if it contains a NUL. The caller frees. */
int machine_read(const struct machine *m, const char *path, char **text);

/* Read a file that contains a list of CPUs. */
int machine_read_cpus(const struct machine *m, const char *path, struct cpulist *cpus);

/* Restore a file's content to `raw`, byte for byte; nothing is written if it is the same. */
int machine_put_back(struct machine *m, const char *path, const char *raw);

/* openat below the root, links kept inside. A descriptor or a negative errno. */
int machine_openat(const struct machine *m, const char *path, int flags);

#endif
