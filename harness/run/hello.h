/*
 * The first thing that an endpoint says: which program it is of, and where it runs.
 */
#ifndef KBLAT_RUN_HELLO_H
#define KBLAT_RUN_HELLO_H

#include <jansson.h>

struct err;

/* Can this coordinator work with it? Both must be of one make: what they say to each other is, and raw columns are as
 * the machine has them. 0, or -EPROTO and `e`, which names the endpoint and its host. */
int hello_check(const json_t *hello, const char *name, struct err *e);

#endif
