/*
 * manifest-sha256.txt: "<sha256>  <relative path>" for every file of a run directory but itself and
 * derived/, sorted; `sha256sum -c` accepts it.
 */
#ifndef KBLAT_RUNDIR_MANIFEST_H
#define KBLAT_RUNDIR_MANIFEST_H

#include <stdbool.h>

struct err;

int manifest_write(const char *run_path, struct err *e);

/* Check it. Each difference (changed, missing, not listed) is told by `complain`; the count of them
 * is returned, or a negative errno. */
int manifest_check(const char *run_path, void (*complain)(void *arg, const char *text), void *arg, struct err *e);

/* Check those files of it that are wanted, for who reads only these. -EBADMSG (STATUS_USAGE) and
 * the first that was changed. */
int manifest_check_files(const char *run_path, bool (*is_wanted)(const char *name, void *arg), void *arg,
			 struct err *e);

#endif
