/*
 * How receive requests are posted again (`return`): each by itself, or several in one list, which is made here beforehand;
 * likewise those of a shared receive queue and of several memory regions.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_RETURN_H
#define KBLAT_TRANSPORTS_VERBS_RETURN_H

struct err;
struct verbs;

/* The queue pair and the receive ring are there. 0 or -ENOMEM. */
int verbs_return_open(struct verbs *t, struct err *e);
void verbs_return_close(struct verbs *t);

/* Note the buffer of the message last received for the list, and post that when it is complete. As verbs_release(), which
 * is all that is inlined into loops. */
int verbs_put_back(struct verbs *t);

/* Post what is in the list, which is not empty. */
int verbs_post_released(struct verbs *t);

#endif
