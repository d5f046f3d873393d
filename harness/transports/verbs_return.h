/*
 * How receive requests are posted again (`return`): each separately, or several in one list, which
 * is prepared here; likewise for a shared receive queue and for several memory regions.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_RETURN_H
#define KBLAT_TRANSPORTS_VERBS_RETURN_H

struct err;
struct verbs;

/* The queue pair and the receive ring must exist. 0 or -ENOMEM. */
int verbs_return_open(struct verbs *t, struct err *e);
void verbs_return_close(struct verbs *t);

/* Add the buffer of the message last received to the list, and post the list when it is complete.
 * Returns the same as verbs_release(), which is the only part that is inlined into loops. */
int verbs_put_back(struct verbs *t);

/* Post the list, which must not be empty. */
int verbs_post_released(struct verbs *t);

#endif
