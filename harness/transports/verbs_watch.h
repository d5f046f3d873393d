/*
 * What a device tells of its own accord: its port or itself has failed.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_WATCH_H
#define KBLAT_TRANSPORTS_VERBS_WATCH_H

#include "transports/verbs.h"

/* Wait for bad news from now on, until verbs_unwatch(). They bring the queue pair to its error state, which wakes
 * whoever waits for a completion, busily or not. */
int verbs_watch(struct verbs *t, struct err *e);
void verbs_unwatch(struct verbs *t);

#endif
