#include "instrument/cycles.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

int cycles_open(void)
{
	struct perf_event_attr attr = {
	    .type = PERF_TYPE_HARDWARE,
	    .size = sizeof(attr),
	    .config = PERF_COUNT_HW_CPU_CYCLES,
	    .pinned = 1, /* always on the counter, or in the error state: never extrapolated from a part of the time */
	    .exclude_hv = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

int64_t cycles_close(int fd)
{
	int64_t cycles = 0;

	if (fd < 0)
		return 0;
	if (read(fd, &cycles, sizeof(cycles)) != sizeof(cycles))
		cycles = 0;
	close(fd);
	return cycles;
}
