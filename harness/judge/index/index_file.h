/*
 * The file of an index: kblat-index.sqlite in the folder whose runs it lists. It is never changed
 * but replaced atomically by a new one. So readers need no lock, and a writer that
 * is killed leaves the old file intact. Symbolic links are not followed, and no file beside it is
 * read: SQLite works on a copy in memory.
 *
 * Its tables and views are described in docs/runs.md. A file is only accepted as an index if its schema
 * equals ours byte by byte, which rules out triggers and other code that would be executed when it is read.
 */
#ifndef KBLAT_INDEX_INDEX_FILE_H
#define KBLAT_INDEX_INDEX_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "judge/index/index_sql.h"

struct err;

#define INDEX_FILE "kblat-index.sqlite"

/* Open the index of `dir` (a real path) for reading. 0; -ENOENT if there is none; -EBADMSG if it is
 * damaged or not of this version. In these cases `e` is not filled in. Other errors, such as that
 * it is a symbolic link, fill in `e`. */
int index_file_open(struct index *ix, const char *dir, struct err *e);

/* Its permissions: also those of what is made from it. */
mode_t index_file_mode(const struct index *ix);

bool index_file_is_missing(const char *dir);

/* To be held while the index of `dir` is written, and until `*lock` is closed. 1: somebody else had it, which was reported
 * on standard error, so that runs may have come or gone meanwhile; 0: nobody had it. */
int index_file_lock(const char *dir, int *lock, struct err *e);

/* A new index to be written, in memory until it is committed, with these permissions, less the umask. The caller holds
 * the lock until index_file_commit() or index_file_abandon(). */
struct index_writer {
	struct index index;
	char *temporary;
	mode_t mode;
};
int index_file_begin(struct index_writer *w, const char *dir, mode_t mode, struct err *e);

/* Replace the index by the new file. Without this, closing leaves everything as it was. */
int index_file_commit(struct index_writer *w, struct err *e);
void index_file_abandon(struct index_writer *w);

void index_file_close(struct index *ix);

#endif
