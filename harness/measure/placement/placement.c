#include "measure/placement/placement.h"

#include <limits.h>
#include <string.h>

/* CPUs assigned on one host so far. */
struct deal {
	const struct placement *side;
	size_t count;
	const char *host;
};

static bool is_on(const struct deal *d, size_t i)
{
	return !strcmp(d->side[i].host, d->host);
}

static int count_users(const struct deal *d, int cpu)
{
	int users = 0;

	for (size_t i = 0; i < d->count; i++)
		users += is_on(d, i) && d->side[i].cpu == cpu;
	return users;
}

/* The last CPU of the set that is of the fast kind, if any is: the last, because kernels prefer the first CPUs for their
 * own work. */
static int last_cpu(const struct survey *s, const struct cpulist *set)
{
	struct cpulist fast = *set;
	int last = -1;

	cpulist_subtract(&fast, &s->slow);
	if (!cpulist_count(&fast))
		fast = *set;
	for (int cpu = cpulist_first(&fast); cpu >= 0; cpu = cpulist_next(&fast, cpu))
		last = cpu;
	return last;
}

/* Remove the CPUs that are taken, and with `cores` all CPUs of their cores. */
static void leave_free(const struct deal *d, const struct survey *s, bool cores, struct cpulist *set)
{
	for (size_t i = 0; i < d->count; i++) {
		const int taken = d->side[i].cpu;

		if (!is_on(d, i) || taken < 0)
			continue;
		cpulist_remove(set, (unsigned)taken);
		for (int cpu = cpulist_first(set); cores && cpu >= 0; cpu = cpulist_next(set, cpu))
			if (s->core[cpu] == s->core[taken])
				cpulist_remove(set, (unsigned)cpu);
	}
}

/* A CPU on an unused core; otherwise an unused CPU; otherwise the one with the fewest users. */
static int choose_apart(const struct deal *d, const struct survey *s)
{
	struct cpulist set = s->choice.cpus;
	int best = -1, fewest = INT_MAX;

	leave_free(d, s, true, &set);
	if (!cpulist_count(&set)) {
		set = s->choice.cpus;
		leave_free(d, s, false, &set);
	}
	if (cpulist_count(&set))
		return last_cpu(s, &set);
	for (int cpu = cpulist_first(&s->choice.cpus); cpu >= 0; cpu = cpulist_next(&s->choice.cpus, cpu))
		if (count_users(d, cpu) <= fewest) {
			fewest = count_users(d, cpu);
			best = cpu;
		}
	return best;
}

/* The only CPU that can be chosen, or -1. */
static int the_only(const struct cpu_choice *c)
{
	return c->is_told && cpulist_count(&c->cpus) == 1 ? cpulist_first(&c->cpus) : -1;
}

static void deal_one(struct placement *side, size_t count, size_t i)
{
	const struct deal d = {side, count, side[i].host};

	if (side[i].cpu < 0 && (side[i].is_busy || side[i].survey->choice.is_told))
		side[i].cpu = choose_apart(&d, side[i].survey);
}

static int choose_spare(const struct placement *side, size_t count, size_t i, const struct cpulist *from)
{
	const struct deal d = {side, count, side[i].host};
	struct cpulist set = *from;

	leave_free(&d, side[i].survey, false, &set);
	for (size_t k = 0; k < i; k++)
		if (is_on(&d, k) && side[k].wants_spare && side[k].spare_cpu >= 0)
			cpulist_remove(&set, (unsigned)side[k].spare_cpu);
	return last_cpu(side[i].survey, &set);
}

/* If possible near the source, whose memory it shares. */
static void deal_spare(struct placement *side, size_t count, size_t i)
{
	const size_t source = i & ~(size_t)1;
	const bool same = !strcmp(side[source].host, side[i].host);
	const struct survey *s = side[same ? source : i].survey;

	side[i].spare_cpu = choose_spare(side, count, i, &s->choice.cpus);
	if (side[i].spare_cpu < 0)
		side[i].spare_cpu = choose_spare(side, count, i, &s->allowed);
}

static void note_kind(struct placement *side)
{
	side->is_slow = side->cpu >= 0 && cpulist_has(&side->survey->slow, (unsigned)side->cpu);
}

static void note_sharing(struct placement *side, size_t source)
{
	struct placement *a = &side[source], *b = &side[source + 1];

	if (a->cpu < 0 || b->cpu < 0 || strcmp(a->host, b->host))
		return;
	a->shared_cpu = b->shared_cpu = a->cpu == b->cpu;
	a->shared_smt = b->shared_smt = a->cpu != b->cpu && a->survey->core[a->cpu] == a->survey->core[b->cpu];
}

void placement_deal(struct placement *side, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		side[i].cpu = the_only(&side[i].survey->choice);
		side[i].spare_cpu = -1;
		side[i].shared_cpu = side[i].shared_smt = false;
	}
	for (size_t flow = 0; flow < count; flow += 2) {
		deal_one(side, count, flow + 1);
		deal_one(side, count, flow);
	}
	for (size_t i = 0; i < count; i++) {
		deal_spare(side, count, i);
		note_kind(&side[i]);
	}
	for (size_t flow = 0; flow < count; flow += 2)
		note_sharing(side, flow);
}
