/*
 * Detects whether a run directory has changed since it was read. The stamp is a hash of what
 * stat(2) returns for the files that an index is made from: inode, mode, size and times.
 */
#ifndef KBLAT_INDEX_INDEX_STAMP_H
#define KBLAT_INDEX_INDEX_STAMP_H

#define INDEX_STAMP_MAX 17

/* 16 hexadecimal digits. Returns `buf`. */
char *index_stamp(const char *run_path, char buf[INDEX_STAMP_MAX]);

#endif
