#include "instrument/stolen.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MSR_SMI_COUNT 0x34 /* Intel SDM 4, table 2-2 and others: since Nehalem */

/* /proc/stat: "cpuN user nice system idle iowait irq softirq steal …", in clock ticks (proc(5)). */
static int64_t stolen_steal_ms(int cpu)
{
	FILE *in = fopen("/proc/stat", "re");
	char line[512], format[80];
	long long steal = -1;

	snprintf(format, sizeof(format), "cpu%d %%*u %%*u %%*u %%*u %%*u %%*u %%*u %%lld", cpu);
	while (in && steal < 0 && fgets(line, sizeof(line), in))
		if (sscanf(line, format, &steal) != 1)
			steal = -1;
	if (in)
		fclose(in);
	return steal < 0 ? -1 : steal * 1000 / sysconf(_SC_CLK_TCK);
}

static int64_t stolen_smis(int cpu)
{
	char path[64];
	uint64_t count = 0;
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = pread(fd, &count, sizeof(count), MSR_SMI_COUNT);
	close(fd);
	return n == sizeof(count) ? (int64_t)(count & UINT32_MAX) : -1;
}

struct stolen stolen_read(int cpu)
{
	return (struct stolen){cpu < 0 ? -1 : stolen_steal_ms(cpu), cpu < 0 ? -1 : stolen_smis(cpu)};
}
