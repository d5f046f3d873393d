/*
 * Time taken from the operating system: by the hypervisor (steal time), or by firmware (system management interrupts,
 * only on Intel processors whose registers may be read).
 */
#ifndef KBLAT_INSTRUMENT_STOLEN_H
#define KBLAT_INSTRUMENT_STOLEN_H

#include <stdint.h>

struct stolen {
	int64_t steal_ms; /* since the boot, in the steps of the kernel's clock tick; -1: not known */
	int64_t smis;	  /* since the boot; -1: not known */
};

/* Of a CPU. */
struct stolen stolen_read(int cpu);

#endif
