/*
 * Messages written to memory: what is rare about them.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_MEMORY_H
#define KBLAT_TRANSPORTS_VERBS_MEMORY_H

#include "transports/verbs.h"

/* Cold: the slot that is waited for holds another message's turn. 0, or a negative errno. */
int verbs_other_turn(struct verbs *t, uint32_t turn);

#endif
