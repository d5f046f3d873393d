/*
 * Sends that are posted together, in a linked list with one doorbell; their number is the kernel's
 * batch.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_LIST_H
#define KBLAT_TRANSPORTS_VERBS_LIST_H

struct err;
struct verbs;

/* Does nothing if each message is posted immediately. The send request must have been prepared. */
int verbs_list_open(struct verbs *t, struct err *e);

/* Update the list with what connecting has put into the send request: the target of a write, the
 * recipient of a datagram. */
void verbs_list_refresh(struct verbs *t);

void verbs_list_close(struct verbs *t);

#endif
