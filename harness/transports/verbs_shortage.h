/*
 * Finds out which resource of a device or this machine is insufficient, from what was asked for.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_SHORTAGE_H
#define KBLAT_TRANSPORTS_VERBS_SHORTAGE_H

struct err;
struct verbs;

/* `operation` failed with the negative errno `rc`: fills in `e` with the reason, as far as it can
 * be determined, and returns a negative errno. */
int verbs_shortage(const struct verbs *t, int rc, const char *operation, struct err *e);

/* Is there enough memory for the rings? 0 or -ENOMEM. */
int verbs_shortage_of_memory(const struct verbs *t, struct err *e);

#endif
