/*
 * What a difference between two machines means to a latency.
 */
#ifndef KBLAT_STATE_LATENCY_EFFECT_H
#define KBLAT_STATE_LATENCY_EFFECT_H

/* What a difference in `key` means: a phrase, "" where there is nothing to say. Static. */
const char *latency_effect(const char *key);

#endif
