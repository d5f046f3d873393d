/*
 * The file of an index: kblat-index.sqlite in the folder whose runs it lists. It is read as it is
 * and never changed in place: a changed copy takes its place at once, or nothing does. So readers
 * need no lock, and whatever kills a writer leaves the old one. Links are not followed.
 */
#ifndef KBLAT_INDEX_INDEX_FILE_H
#define KBLAT_INDEX_INDEX_FILE_H

#include <stdbool.h>

#include "index/index_sql.h"

struct err;

#define INDEX_FILE "kblat-index.sqlite"

/* Open that of `dir` (a real path) for reading: 0; -ENOENT if there is none; -EBADMSG if it is
 * damaged, or none of this version. Both leave `e` alone. Else, such as at a link, `e` is told. */
int index_file_open(struct index *ix, const char *dir, struct err *e);

bool index_file_is_missing(const char *dir);

/* A new one, for writing: a copy of what is there, or empty with `anew`. Others that write the same
 * wait at `lock`, until index_file_commit() or index_file_abandon(). */
struct index_writer {
	struct index index;
	char *temporary;
	int lock;
};
int index_file_begin(struct index_writer *w, const char *dir, bool anew, struct err *e);

/* Put it in place. Without it, closing leaves everything as it was. */
int index_file_commit(struct index_writer *w, struct err *e);
void index_file_abandon(struct index_writer *w);

void index_file_close(struct index *ix);

#endif
