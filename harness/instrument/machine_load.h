/*
 * How busy all CPUs of this machine together are, from /proc/stat, whose resolution is a hundredth of a second.
 */
#ifndef KBLAT_INSTRUMENT_MACHINE_LOAD_H
#define KBLAT_INSTRUMENT_MACHINE_LOAD_H

#include <stdint.h>

struct machine_load {
	int64_t busy_ns; /* of all CPUs, since boot: neither idle nor taken by a hypervisor; -1: not known */
	int64_t now_ns;	 /* CLOCK_MONOTONIC */
};

struct machine_load machine_load_now(void);

#endif
