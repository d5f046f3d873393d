/* Processors with CPUs of several kinds: Intel's hybrid ones, big.LITTLE. */
#ifndef KBLAT_COMMON_CPU_KINDS_H
#define KBLAT_COMMON_CPU_KINDS_H

struct cpulist;
struct sysroot;

/* Of these CPUs those of the fast kind: all of them, unless the machine below `root` says of some that they are slower. */
void cpu_kinds_fast(const struct sysroot *root, const struct cpulist *of, struct cpulist *fast);

#endif
