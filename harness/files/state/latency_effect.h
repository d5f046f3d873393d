/*
 * How a difference between two machines affects latencies.
 */
#ifndef KBLAT_STATE_LATENCY_EFFECT_H
#define KBLAT_STATE_LATENCY_EFFECT_H

/* The effect of a difference in `key`: a phrase, or "". Static. */
const char *latency_effect(const char *key);

#endif
