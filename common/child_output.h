/*
 * Runs another program, waits for it, and returns what it prints.
 */
#ifndef KBLAT_COMMON_CHILD_OUTPUT_H
#define KBLAT_COMMON_CHILD_OUTPUT_H

#include <stddef.h>

struct err;

/*
 * Run the command `words` (NULL-terminated; the program is searched for in PATH and in /usr/sbin) for at most
 * `limit_ms`, and store what it prints on standard output and error in `text` (at most `size` - 1 bytes; the rest is
 * dropped). Returns its exit status, -ENOENT if there is no such program, -ETIMEDOUT if it took too long and was
 * killed, or another negative errno. Errors are described in `e`, which names the program.
 */
int child_output(const char *const *words, int limit_ms, char *text, size_t size, struct err *e);

#endif
