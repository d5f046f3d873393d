/*
 * The memory of a passive side, which one-sided operations access: its content before a repetition,
 * what operations must fetch from it, and its expected content after the repetition. Only used
 * between repetitions, except for verbs_fetched().
 *
 * A read fetches bytes that the sink has put there. Atomics access the words in turn, one per slot,
 * which are 0 at first. The n-th one on a word (from 0) adds 1, or replaces n by n + 1, and fetches
 * n. So at the end the words add up to the number of atomics posted.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_REMOTE_H
#define KBLAT_TRANSPORTS_VERBS_REMOTE_H

#include <stdint.h>

#include "transports/transport.h"

struct verbs;

void verbs_remote_prepare(struct verbs *t);

/* See transport_ops.check_memory. */
int64_t verbs_check_memory(const struct transport *t, uint64_t posted);

#endif
