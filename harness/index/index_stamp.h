/*
 * Has a run directory changed since it was read? What stat(2) says of the files that an index is made
 * of: which they are, how large, and when they changed.
 */
#ifndef KBLAT_INDEX_INDEX_STAMP_H
#define KBLAT_INDEX_INDEX_STAMP_H

#define INDEX_STAMP_MAX 17

/* 16 hexadecimal digits. Returns `buf`. */
char *index_stamp(const char *run_path, char buf[INDEX_STAMP_MAX]);

#endif
