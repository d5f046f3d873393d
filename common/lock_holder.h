/*
 * Who keeps a lock of flock(2) that cannot be had? For messages.
 */
#ifndef KBLAT_COMMON_LOCK_HOLDER_H
#define KBLAT_COMMON_LOCK_HOLDER_H

#include <stddef.h>

#define LOCK_HOLDER_MAX 32

/* " (process 4711)" for the file open as `fd`; "" if that is not known. Returns `buf`. */
char *lock_holder(int fd, char *buf, size_t size);

#endif
