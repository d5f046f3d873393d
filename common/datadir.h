/*
 * Where a program finds its data (plot scripts, experiments, profiles). The program PREFIX/bin/PROGRAM finds them in
 * PREFIX/share/OWNER, whatever the prefix is, so an installed tree may be moved as a whole. A program that is not
 * installed finds them in the source tree in which it was built.
 */
#ifndef KBLAT_COMMON_DATADIR_H
#define KBLAT_COMMON_DATADIR_H

/* The folders in which data called `name` may be, in order of preference: NULL-terminated; free with fs_files_free.
 * They need not exist. */
char **datadir_places(const char *owner, const char *name);

/* The first of them that exists, or NULL; the caller frees. */
char *datadir_find(const char *owner, const char *name);

/* Only PREFIX/share/OWNER/NAME, whether it exists or not; NULL without /proc. The caller frees. */
char *datadir_installed(const char *owner, const char *name);

#endif
