/*
 * manifest-sha256.txt: "<sha256>  <relative path>" for every file of a run directory but itself and
 * derived/, sorted; `sha256sum -c` accepts it.
 */
#ifndef KBLAT_RUNDIR_MANIFEST_H
#define KBLAT_RUNDIR_MANIFEST_H

#include <stdbool.h>

struct err;

int manifest_write(const char *run_path, struct err *e);

/* Check the manifest. `complain` is called for each difference (changed, missing, not listed). Returns their number or
 * a negative errno. */
int manifest_check(const char *run_path, void (*tell)(void *arg, const char *text), void *arg, struct err *e);

/* Check only the selected files, for readers that use only these. -EBADMSG (STATUS_USAGE) if one was changed; `e` names
 * the first. */
int manifest_check_files(const char *run_path, bool (*is_wanted)(const char *name, void *arg), void *arg,
			 struct err *e);

#endif
