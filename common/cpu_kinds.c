#include "common/cpu_kinds.h"

#include <stdint.h>
#include <stdio.h>

#include "common/cpulist.h"
#include "common/sysroot.h"

static int64_t capacity_of(const struct sysroot *root, int cpu)
{
	char path[64];
	int64_t capacity;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpu_capacity", cpu);
	return sysroot_int(root, path, &capacity) ? 0 : capacity;
}

/* Processors of one kind differ in capacity, too: the turbo of the best is up to a tenth higher, and of the least different
 * kinds that there are a third. */
static bool is_of_best_kind(int64_t capacity, int64_t most)
{
	return capacity * 13 >= most * 10;
}

/* The kernel says of hybrid processors of Intel which CPUs have which counters; of others, and newer ones, how much each can
 * do. Frequencies say less: those of the fast kind have several. */
void cpu_kinds_fast(const struct sysroot *root, const struct cpulist *of, struct cpulist *fast)
{
	char line[CPULIST_TEXT_MAX];
	int64_t most = 0;

	if (sysroot_line(root, "/sys/devices/cpu_core/cpus", line, sizeof(line)) >= 0 &&
	    !cpulist_parse(line, fast, NULL, 0)) {
		cpulist_intersect(fast, of);
	} else {
		for (int cpu = cpulist_first(of); cpu >= 0; cpu = cpulist_next(of, cpu))
			most = capacity_of(root, cpu) > most ? capacity_of(root, cpu) : most;
		*fast = *of;
		for (int cpu = cpulist_first(of); most && cpu >= 0; cpu = cpulist_next(of, cpu))
			if (!is_of_best_kind(capacity_of(root, cpu), most))
				cpulist_remove(fast, (unsigned)cpu);
	}
	if (cpulist_first(fast) < 0)
		*fast = *of;
}
