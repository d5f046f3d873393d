/*
 * The memory of a passive side, which one-sided operations work on: what is put there before a repetition, what they must
 * bring from there, what they must have left when it has ended. Between repetitions, but for verbs_fetched().
 *
 * A read brings bytes that the sink has put there. An atomic works on one of as many words as there are places, in turn,
 * which are 0 at first: each adds 1, or puts in the place of n, the number of those before it there, n + 1, and brings n.
 * So the words are, in the end, as many as were posted.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_REMOTE_H
#define KBLAT_TRANSPORTS_VERBS_REMOTE_H

#include <stdint.h>

#include "transports/transport.h"

struct verbs;

void verbs_remote_prepare(struct verbs *t);

/* As transport_ops.check_memory. */
int64_t verbs_check_memory(const struct transport *t, uint64_t posted);

#endif
