/*
 * Sends that are posted together, in one linked list with one doorbell: as many as a kernel's batch.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_LIST_H
#define KBLAT_TRANSPORTS_VERBS_LIST_H

struct err;
struct verbs;

/* Nothing where each message is posted at once. The send request must be prepared. */
int verbs_list_open(struct verbs *t, struct err *e);

/* What connecting has put into the send request since: where a write goes, who a datagram is for. */
void verbs_list_refresh(struct verbs *t);

void verbs_list_close(struct verbs *t);

#endif
