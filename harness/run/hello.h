/*
 * The first message of an endpoint: the version of its program, and where it runs.
 */
#ifndef KBLAT_RUN_HELLO_H
#define KBLAT_RUN_HELLO_H

#include <jansson.h>

struct err;

/* Can this coordinator work with the endpoint? Both must have the same version, because of the protocol, and the same
 * byte order, because of the raw columns. 0, or -EPROTO and `e`, which names the endpoint and its host. */
int hello_check(const json_t *hello, const char *name, struct err *e);

#endif
