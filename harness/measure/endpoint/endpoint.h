/*
 * One side of a flow: a process that opens a transport, runs a kernel's loops on separate pinned threads, and returns
 * the columns. It reads commands from `in` and writes replies to `out` (wire.h); its first thread does nothing else,
 * and sleeps while a repetition is measured. At the end of `in` it stores what it has measured (if it was told where),
 * removes everything that it has created, and ends.
 */
#ifndef KBLAT_ENDPOINT_H
#define KBLAT_ENDPOINT_H

#include <jansson.h>

struct err;

/* `examine` returns what `kblat doctor` finds on this host, as an array that the caller owns; NULL: not available. */
int endpoint_serve(int in, int out, int (*examine)(json_t **findings, struct err *e), struct err *e);

#endif
