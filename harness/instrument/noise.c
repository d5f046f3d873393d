#include "instrument/noise.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "instrument/clock.h"
#include "instrument/pinned.h"

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
	struct spin *spins = calloc(count, sizeof(*spins));

	for (size_t i = 0; i < count; i++) {
		n[i] = (struct noise){.cpu = n[i].cpu, .rc = spins && hz > 0 ? 0 : -ENOMEM};
		if (n[i].rc)
			continue;
		spins[i] = (struct spin){.result = &n[i],
					 .hz = hz,
					 .ticks = (int64_t)(milliseconds * hz / 1e3),
					 .gap = (int64_t)(NOISE_GAP_NS * hz / 1e9)};
		n[i].rc = pinned_start(&spins[i].thread, n[i].cpu, run_spin, &spins[i]);
	}
	for (size_t i = 0; spins && i < count; i++)
		if (!n[i].rc)
			pthread_join(spins[i].thread, NULL);
	free(spins);
}
