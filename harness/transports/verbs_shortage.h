/*
 * What a device or this machine is short of, told by what was asked for.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_SHORTAGE_H
#define KBLAT_TRANSPORTS_VERBS_SHORTAGE_H

struct err;
struct verbs;

/* `operation` failed with the negative errno `rc`: fills `e` with why, as far as that can be told, and returns it. */
int verbs_shortage(const struct verbs *t, int rc, const char *operation, struct err *e);

/* Is there memory for the rings? 0 or -ENOMEM. */
int verbs_shortage_of_memory(const struct verbs *t, struct err *e);

#endif
