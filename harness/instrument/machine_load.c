#include "instrument/machine_load.h"

#include <stdio.h>
#include <unistd.h>

#include "common/monotonic.h"

/* proc_stat(5): user nice system idle iowait irq softirq; guests' time is in user already. In USER_HZ. */
static int64_t busy_ticks(void)
{
	unsigned long long user, nice, system, idle, iowait, irq, softirq;
	FILE *f = fopen("/proc/stat", "re");
	int found = f ? fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle, &iowait, &irq,
			       &softirq)
		      : 0;

	if (f)
		fclose(f);
	return found == 7 ? (int64_t)(user + nice + system + irq + softirq) : -1;
}

struct machine_load machine_load_now(void)
{
	const int64_t ticks = busy_ticks();

	return (struct machine_load){.busy_ns = ticks < 0 ? -1 : ticks * (1000000000 / sysconf(_SC_CLK_TCK)),
				     .now_ns = monotonic_ns()};
}
