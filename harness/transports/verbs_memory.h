/*
 * The rare cases of messages that are written to memory.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_MEMORY_H
#define KBLAT_TRANSPORTS_VERBS_MEMORY_H

#include "transports/verbs.h"

/* Cold: the slot that is expected next contains the turn of another message. 0, or a negative errno. */
int verbs_other_turn(struct verbs *t, uint32_t turn);

#endif
