/*
 * Starts a thread that runs on its CPU from its first instruction on. The affinity of the caller does not change.
 */
#ifndef KBLAT_INSTRUMENT_PINNED_H
#define KBLAT_INSTRUMENT_PINNED_H

#include <pthread.h>

/* 0, or a negative errno: -EINVAL if the CPU does not exist or is not allowed. */
int pinned_start(pthread_t *thread, int cpu, void *(*function)(void *), void *arg);

#endif
