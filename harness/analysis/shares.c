#include "analysis/shares.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#include "analysis/span.h"

/* Counting this many takes a millisecond; starting a thread takes a tenth of that. */
#define SHARES_EACH ((size_t)1 << 20)

unsigned shares_for(size_t samples)
{
	size_t shares = samples / SHARES_EACH;
	cpu_set_t cpus;

	if (shares < 2 || sched_getaffinity(0, sizeof(cpus), &cpus))
		return 1;
	if (shares > (size_t)CPU_COUNT(&cpus))
		shares = (size_t)CPU_COUNT(&cpus);
	return (unsigned)(shares < SHARES_MAX ? shares : SHARES_MAX);
}

size_t shares_deal(const struct span *spans, size_t span_count, unsigned share, unsigned count, struct span *out)
{
	const size_t total = span_total(spans, span_count), first = total / count * share;
	const size_t end = share + 1 == count ? total : total / count * (share + 1);
	size_t begun = 0, dealt = 0;

	for (size_t k = 0; k < span_count; begun += spans[k++].count) {
		size_t from = first > begun ? first - begun : 0;
		size_t to = end > begun ? end - begun : 0;

		to = to < spans[k].count ? to : spans[k].count;
		if (from < to)
			out[dealt++] =
			    (struct span){spans[k].a + from, spans[k].b ? spans[k].b + from : NULL, to - from};
	}
	return dealt;
}

struct shares_thread {
	pthread_t thread;
	bool is_running;
	unsigned share;
	void (*work)(unsigned share, void *arg);
	void *arg;
};

static void *run_share(void *arg)
{
	const struct shares_thread *t = arg;

	t->work(t->share, t->arg);
	return NULL;
}

void shares_run(unsigned count, void (*work)(unsigned share, void *arg), void *arg)
{
	struct shares_thread threads[SHARES_MAX];

	for (unsigned i = 1; i < count; i++) {
		threads[i] = (struct shares_thread){.share = i, .work = work, .arg = arg};
		threads[i].is_running = !pthread_create(&threads[i].thread, NULL, run_share, &threads[i]);
	}
	work(0, arg);
	for (unsigned i = 1; i < count; i++)
		if (threads[i].is_running)
			pthread_join(threads[i].thread, NULL);
		else
			work(i, arg);
}
