/*
 * Global PM QoS: /dev/cpu_dma_latency. The kernel keeps a request as long as the descriptor that
 * made it is open, and applies the lowest of all.
 */
#ifndef KBLAT_TUNING_LATENCY_H
#define KBLAT_TUNING_LATENCY_H

struct machine;

#define LATENCY_DEVICE "/dev/cpu_dma_latency"
#define LATENCY_NONE   2000000000LL /* the value that is read if there is no request */

/* The value in force, in us: 0 or a negative errno. */
int latency_read(const struct machine *m, long long *us);

/* Make a request, which lasts as long as the returned descriptor is open; or a negative errno. Live machines only. */
int latency_open(int us);

#endif
