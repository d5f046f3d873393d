/*
 * What another program prints: started with these words, and waited for.
 */
#ifndef KBLAT_COMMON_CHILD_OUTPUT_H
#define KBLAT_COMMON_CHILD_OUTPUT_H

#include <stddef.h>

struct err;

/*
 * Run `words` (NULL-terminated; the first is looked for in PATH and in /usr/sbin) for at most `limit_ms`, and put what it prints on standard output
 * and error into `text` (at most `size` - 1 bytes, the rest is dropped). Its exit status; -ENOENT: there is no such program; -ETIMEDOUT: it was killed;
 * another negative errno. All with `e`, which names it.
 */
int child_output(const char *const *words, int limit_ms, char *text, size_t size, struct err *e);

#endif
