/*
 * Processor cycles of the calling thread, in user space and in the kernel, by the processor's own counter
 * (perf_event_open(2)). A thread with a counter costs more to switch to and from, so that nothing counts unasked.
 */
#ifndef KBLAT_INSTRUMENT_CYCLES_H
#define KBLAT_INSTRUMENT_CYCLES_H

#include <stdint.h>

/* Counts from now on. A descriptor, or -1 where that is not possible: no counter, not allowed, or all are in use. */
int cycles_open(void);

/* How many so far; 0: they were not counted all the time. Closes `fd`. */
int64_t cycles_close(int fd);

#endif
