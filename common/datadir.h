/*
 * Where a program finds what came with it (plot scripts, experiments, profiles): PREFIX/share/OWNER
 * where it is PREFIX/bin/PROGRAM, whatever the prefix; or its source tree, where it was built. So an
 * installed tree may be moved as a whole.
 */
#ifndef KBLAT_COMMON_DATADIR_H
#define KBLAT_COMMON_DATADIR_H

/* The folders called `name` that there may be, first to last: NULL-terminated, to be freed with
 * fs_files_free. They need not exist. */
char **datadir_places(const char *owner, const char *name);

/* The first that exists, or NULL; the caller frees. */
char *datadir_find(const char *owner, const char *name);

/* PREFIX/share/OWNER/NAME alone, existing or not; NULL without /proc. The caller frees. */
char *datadir_installed(const char *owner, const char *name);

#endif
