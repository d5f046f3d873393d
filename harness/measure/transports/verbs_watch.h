/*
 * Asynchronous events of a device: it or its port has failed.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_WATCH_H
#define KBLAT_TRANSPORTS_VERBS_WATCH_H

#include "measure/transports/verbs_types.h"

/* Watch for fatal events until verbs_unwatch(). They put the queue pair into the error state, which
 * ends every wait for a completion, busy or not. */
int verbs_watch(struct verbs *t, struct err *e);
void verbs_unwatch(struct verbs *t);

#endif
