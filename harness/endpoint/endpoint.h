/*
 * One side of a point: a process that opens a transport, runs a kernel's loops on pinned threads of their own, and
 * hands the columns back. It takes orders on `in` and answers on `out` (wire.h); its first thread does nothing else,
 * and sleeps while a repetition is measured. At the end of `in` it keeps what it has measured (if it was told where),
 * removes everything that it made, and ends.
 */
#ifndef KBLAT_ENDPOINT_H
#define KBLAT_ENDPOINT_H

#include <jansson.h>

struct err;

/* `examine`: what `kblat doctor` finds here, as an array that the caller owns; NULL: nobody can be asked. */
int endpoint_serve(int in, int out, int (*examine)(json_t **findings, struct err *e), struct err *e);

#endif
