/*
 * Arguments of the kernel's command line, as the kernel reads them (lib/cmdline.c, kernel/sched/isolation.c,
 * kernel/rcu/tree_nocb.h, lib/bitmap-str.c): quotes, arguments that are given several times, sets of CPUs with flags and
 * with N and all. What the kernel has made of them is in other files, which count more.
 */
#ifndef KBLAT_COMMON_BOOT_ARGUMENTS_H
#define KBLAT_COMMON_BOOT_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/cpulist.h"

/* A piece of the line, without quotes around all of it; its value is as it was written. */
struct boot_argument_text {
	const char *name, *value; /* value: "" without one */
	size_t name_length, value_length;
};

/* The next argument of `*rest`, which goes on behind it; false at the end. After "--" the rest is init's: its name is that, and its
 * value all of the rest. */
bool boot_arguments_next(const char **rest, struct boot_argument_text *a);

/* The values of an argument in the line's order, without quotes, with a blank between two; NULL: it is not there.
 * The caller frees. */
char *boot_arguments_find(const char *line, const char *name);

/*
 * The CPUs that an argument names, `values` as above (NULL: it is not there, so none). Of several isolcpus and nohz_full the
 * first counts, of others the last. `last`: the machine's last CPU, which N stands for; negative: it is not known. 0;
 * -EINVAL: `name` is no argument of CPUs, or these are none; -ERANGE: a CPU that no set can hold.
 */
int boot_arguments_cpus(const char *name, const char *values, int last, struct cpulist *cpus);

/* Do these values of an argument mean the same? `a_last`, `b_last`: the last CPU of the machine that each is of. */
bool boot_arguments_same(const char *name, const char *a, int a_last, const char *b, int b_last);

#endif
