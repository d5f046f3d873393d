/*
 * A thread that is on its CPU from its first instruction on. The caller's own affinity is not touched.
 */
#ifndef KBLAT_INSTRUMENT_PINNED_H
#define KBLAT_INSTRUMENT_PINNED_H

#include <pthread.h>

/* 0, or a negative errno: -EINVAL for a CPU that is not there or not allowed. */
int pinned_start(pthread_t *thread, int cpu, void *(*function)(void *), void *arg);

#endif
