/*
 * What the control groups of this process, its own and all above it that can be seen, have taken from it so far: time, where
 * their CPU quota was used up (cpu.stat), and memory, where they reached a limit (memory.events;
 * Documentation/admin-guide/cgroup-v2.rst). Both versions are read. In a container, those above its own are not to be
 * seen.
 */
#ifndef KBLAT_INSTRUMENT_CONTROL_GROUPS_H
#define KBLAT_INSTRUMENT_CONTROL_GROUPS_H

#include <stdint.h>

struct sysroot;

struct control_group_limits {
	int64_t throttled, throttled_ns, memory_limited;
};

/* Zeros where nothing is to be seen. Takes some 100 us: not within a measured interval. */
struct control_group_limits control_groups_now(const struct sysroot *root);

#endif
