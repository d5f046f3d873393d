/*
 * How much CPU time a flow took: what its measuring threads used, according to the kernel's
 * accounting, and how busy its machine was meanwhile. The latter includes the time of a device's
 * driver in interrupts and softirqs, which is not charged to any thread.
 *
 * {"source_share", "sink_share", "machine_cpus", "source_ns", "sink_ns", "source_cycles",
 * "sink_cycles"}: the shares are fractions of one CPU over the time that the source's loop took,
 * more than 1 if a side has several threads. machine_cpus, of the source's machine, is null if it
 * is not known, such as over intervals shorter than the kernel's resolution. Cycles are null unless
 * they were asked for (`cycles: yes`) and the processor counts them.
 */
#ifndef KBLAT_ANALYSIS_PROCESSOR_H
#define KBLAT_ANALYSIS_PROCESSOR_H

#include "analysis/blocks.h"

extern const struct block processor_block;

#endif
