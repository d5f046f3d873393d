#include "measure/instrument/counters.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "measure/instrument/clock.h"

/* Processor cycles of the calling thread, in user space and in the kernel, from the processor's own
 * counter (perf_event_open(2)). Switching to and from a thread with a counter takes longer, so cycles
 * are counted only on request.
 *
 * Start counting. Returns a descriptor, or -1 if that is not possible: no counter, not allowed, or all are in use. */
static int cycles_open(void)
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

/* The number of cycles so far; 0 if they were not counted all the time. Closes `fd`. */
static int64_t cycles_close(int fd)
{
	int64_t cycles = 0;

	if (fd < 0)
		return 0;
	if (read(fd, &cycles, sizeof(cycles)) != sizeof(cycles))
		cycles = 0;
	close(fd);
	return cycles;
}

/* se.nr_migrations; 0 if the kernel was built without CONFIG_SCHED_DEBUG. Then only a difference
 * between cpu_first and cpu_last shows a migration. */
static int64_t read_migrations(void)
{
	static const char key[] = "nr_migrations";
	char text[4096];
	int fd = open("/proc/thread-self/sched", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	ssize_t n = read(fd, text, sizeof(text) - 1);

	close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	char *at = strstr(text, key);

	at = at ? strchr(at, ':') : NULL;
	return at ? strtoll(at + 1, NULL, 10) : 0;
}

/* The time that it was ready to run and waited for a CPU: "running waiting slices", in ns; 0 if the kernel does not keep it. */
static int64_t read_waited(void)
{
	char text[128] = "";
	long long waited = 0;
	int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) <= 0 || sscanf(text, "%*d %lld", &waited) != 1)
		waited = 0;
	close(fd);
	return waited;
}

static void read_usage(struct usage_mark *m)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	m->minor = u.ru_minflt;
	m->major = u.ru_majflt;
	m->voluntary = u.ru_nvcsw;
	m->involuntary = u.ru_nivcsw;
}

/* From the scheduler's own clock, because getrusage() only counts whole ticks on some kernels. */
int64_t thread_cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

void usage_begin(struct usage_mark *m, bool counts_cycles)
{
	m->migrations = read_migrations();
	m->waited_ns = read_waited();
	m->cpu = sched_getcpu();
	read_usage(m);
	m->cycles_fd = counts_cycles ? cycles_open() : -1;
	m->cpu_ns = thread_cpu_ns();
	m->ticks = clock_ticks_begin();
}

void usage_end(const struct usage_mark *m, struct counters *c)
{
	struct usage_mark now;

	now.ticks = clock_ticks_end();
	now.cpu_ns = thread_cpu_ns();
	c->cycles = cycles_close(m->cycles_fd);
	read_usage(&now);
	now.cpu = sched_getcpu();
	now.waited_ns = read_waited();
	now.migrations = read_migrations();
	c->page_faults_minor = now.minor - m->minor;
	c->page_faults_major = now.major - m->major;
	c->switches_voluntary = now.voluntary - m->voluntary;
	c->switches_involuntary = now.involuntary - m->involuntary;
	c->migrations = now.migrations - m->migrations;
	c->waited_ns = now.waited_ns - m->waited_ns;
	if (!c->migrations && now.cpu != m->cpu)
		c->migrations = 1;
	c->cpu_ns = now.cpu_ns - m->cpu_ns;
	c->cpu_first = m->cpu;
	c->cpu_last = now.cpu;
	c->duration_ns = now.ticks - m->ticks; /* still in ticks: the owner of the conversion converts them to ns */
}

void counters_add(struct counters *to, const struct counters *from)
{
	struct counters sum = *to;

#define X(name, help) sum.name += from->name;
#include "common/counters.def"
#undef X
	sum.cpu_first = to->cpu_first;
	sum.cpu_last = to->cpu_last;
	sum.pinned = to->pinned;
	sum.locked = to->locked;
	sum.duration_ns = to->duration_ns;
	*to = sum;
}

json_t *counters_json(const struct counters *c)
{
	json_t *j = json_object();

#define X(name, help) json_object_set_new(j, #name, json_integer(c->name));
#include "common/counters.def"
#undef X
	return j;
}
