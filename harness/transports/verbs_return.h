/*
 * How receive requests are posted again (`return`): each by itself, or several in one list, which is made here beforehand.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_RETURN_H
#define KBLAT_TRANSPORTS_VERBS_RETURN_H

struct err;
struct verbs;

/* The queue pair and the receive ring are there. 0 or -ENOMEM. */
int verbs_return_open(struct verbs *t, struct err *e);
void verbs_return_close(struct verbs *t);

#endif
