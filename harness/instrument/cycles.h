/*
 * Processor cycles of the calling thread, in user space and in the kernel, from the processor's own counter
 * (perf_event_open(2)). Switching to and from a thread with a counter takes longer, so cycles are counted only on
 * request.
 */
#ifndef KBLAT_INSTRUMENT_CYCLES_H
#define KBLAT_INSTRUMENT_CYCLES_H

#include <stdint.h>

/* Start counting. Returns a descriptor, or -1 if that is not possible: no counter, not allowed, or all are in use. */
int cycles_open(void);

/* The number of cycles so far; 0 if they were not counted all the time. Closes `fd`. */
int64_t cycles_close(int fd);

#endif
