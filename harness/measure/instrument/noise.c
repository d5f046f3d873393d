#include "measure/instrument/noise.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/monotonic.h"
#include "common/or_abort.h"
#include "common/sort.h"
#include "measure/instrument/clock.h"
#include "measure/instrument/pinned.h"

struct spin {
	struct noise *result;
	pthread_t thread;
	double hz;
	int64_t ticks, gap; /* to spin; what counts as a gap */
};

static void *run_spin(void *arg)
{
	struct spin *s = arg;
	int64_t start = clock_ticks_begin(), last = start, longest = 0, lost = 0, gaps = 0;
	struct rusage before, after;

	getrusage(RUSAGE_THREAD, &before);
	while (last - start < s->ticks) {
		int64_t now = clock_ticks_begin(), gap = now - last;

		if (gap > s->gap) {
			gaps++;
			lost += gap;
			longest = gap > longest ? gap : longest;
		}
		last = now;
	}
	getrusage(RUSAGE_THREAD, &after);
	s->result->preempted = after.ru_nivcsw - before.ru_nivcsw;
	s->result->gaps = gaps;
	s->result->longest_ns = (int64_t)((double)longest * 1e9 / s->hz);
	s->result->lost_ns = (int64_t)((double)lost * 1e9 / s->hz);
	s->result->duration_ns = (int64_t)((double)(last - start) * 1e9 / s->hz);
	return NULL;
}

void noise_measure(struct noise *n, size_t count, unsigned milliseconds, double hz)
{
	struct spin *spins = or_abort(calloc(count, sizeof(*spins)));

	for (size_t i = 0; i < count; i++) {
		n[i] = (struct noise){.cpu = n[i].cpu, .rc = hz > 0 ? 0 : -ENOTSUP};
		if (n[i].rc)
			continue;
		spins[i] = (struct spin){.result = &n[i],
					 .hz = hz,
					 .ticks = (int64_t)(milliseconds * hz / 1e3),
					 .gap = (int64_t)(NOISE_GAP_NS * hz / 1e9)};
		n[i].rc = pinned_start(&spins[i].thread, n[i].cpu, run_spin, &spins[i]);
	}
	for (size_t i = 0; i < count; i++)
		if (!n[i].rc)
			pthread_join(spins[i].thread, NULL);
	free(spins);
}

/* --- what others take from a computation --- */

#define TAKEN_UNIT  20000 /* steps of the computation between two looks at the clock: some 10 us, emulated 30 to 100 */
#define TAKEN_UNITS 8192

struct work {
	pthread_t thread;
	int64_t settle, ticks; /* before and while it counts */
	int64_t took[TAKEN_UNITS];
	size_t units;
};

static void compute(void)
{
	volatile uint32_t result;
	uint32_t x = 1;

	for (unsigned i = 0; i < TAKEN_UNIT; i++)
		x = x * 1664525 + 1013904223;
	result = x;
	(void)result;
}

static void *run_work(void *arg)
{
	struct work *w = arg;
	const int64_t start = clock_ticks_begin();
	int64_t last = start;

	while (w->units < TAKEN_UNITS && last - start < w->settle + w->ticks) {
		const int64_t before = last;

		compute();
		last = clock_ticks_begin();
		if (before - start >= w->settle)
			w->took[w->units++] = last - before;
	}
	return NULL;
}

static double share_taken(struct work *w)
{
	double all = 0, taken = 0;
	int64_t usual;

	if (!w->units)
		return -1;
	sort_integers(w->took, w->units);
	usual = w->took[w->units / 10];
	for (size_t i = 0; i < w->units; i++) {
		all += (double)w->took[i];
		taken += w->took[i] > 2 * usual ? (double)(w->took[i] - usual) : 0;
	}
	return taken / all;
}

void noise_taken(const int *cpu, double *share, size_t count, unsigned settle_ms, unsigned milliseconds, double hz)
{
	struct work *works = or_abort(calloc(count, sizeof(*works)));

	for (size_t i = 0; i < count; i++) {
		works[i].settle = (int64_t)(settle_ms * hz / 1e3);
		works[i].ticks = (int64_t)(milliseconds * hz / 1e3);
		share[i] = hz > 0 && !pinned_start(&works[i].thread, cpu[i], run_work, &works[i]) ? 0 : -1;
	}
	for (size_t i = 0; i < count; i++) {
		if (share[i] < 0)
			continue;
		pthread_join(works[i].thread, NULL);
		share[i] = share_taken(&works[i]);
	}
	free(works);
}

/* --- time taken from the operating system --- */

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

/* --- all CPUs --- */

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
