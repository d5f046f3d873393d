/*
 * How much of the processor a flow took: what its measuring threads used, by the kernel's books, and how busy its
 * machine was meanwhile; what a device's driver does in interrupts and softirqs no thread is charged for.
 *
 * {"source_share", "sink_share", "machine_cpus", "source_ns", "sink_ns", "source_cycles",
 * "sink_cycles"}: shares of one CPU over the time that the source's loop took, more than 1 where a
 * side has several threads; machine_cpus, of the source's machine, is null where it cannot be said,
 * such as over less than the kernel's own resolution; cycles are null unless they were asked for
 * (`cycles: yes`) and the processor counts them.
 */
#ifndef KBLAT_ANALYSIS_PROCESSOR_H
#define KBLAT_ANALYSIS_PROCESSOR_H

#include "analysis/blocks.h"

extern const struct block processor_block;

#endif
