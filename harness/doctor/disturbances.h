/*
 * What interrupted a CPU: interrupts and softirqs by name, and time taken by the hypervisor, as counted by the kernel.
 * They are read twice and subtracted.
 */
#ifndef KBLAT_DOCTOR_DISTURBANCES_H
#define KBLAT_DOCTOR_DISTURBANCES_H

#include <jansson.h>
#include <stddef.h>

struct sysroot;

/* {name: count} of the CPU: "LOC", "24 virtio0-input", "softirq TIMER", "steal ticks". A new
 * reference. */
json_t *disturbances_read(const struct sysroot *root, int cpu);

/* The increase between two readings, a new reference: {name: difference}, the most frequent first. */
json_t *disturbances_between(const json_t *before, const json_t *after);

/* The first few of them, "200 LOC, 3 24 virtio0-input"; "nothing that the kernel counts". Returns
 * `buf`. */
char *disturbances_text(const json_t *grown, char *buf, size_t size);

#endif
