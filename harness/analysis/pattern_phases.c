#include "analysis/pattern_phases.h"

#include <math.h>
#include <stdlib.h>

#include "common/cpulist.h"
#include "common/or_abort.h"

#define ALIKE	     0.15 /* as a share of the largest distance from the base in a group */
#define ALIKE_ERRORS 6	  /* or as a multiple of the error of a median */

struct standing {
	unsigned phase;
	double beside; /* distance from the base */
	int64_t p50;   /* of the original values */
};

static int farthest_first(const void *a, const void *b)
{
	const struct standing *x = a, *y = b;
	const double dx = fabs(x->beside), dy = fabs(y->beside);

	return dx != dy ? (dx < dy ? 1 : -1) : (x->phase > y->phase) - (x->phase < y->phase);
}

static int compare_phases(const void *a, const void *b)
{
	const unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return (x > y) - (x < y);
}

static int by_p50(const void *a, const void *b)
{
	const struct standing *x = a, *y = b;

	return (x->p50 > y->p50) - (x->p50 < y->p50);
}

/* Add a group of similar phases; its p50 is the median of their medians. Sorts them. */
static void add_group(struct pattern_phases *out, int side, struct standing *s, size_t count, unsigned *phases)
{
	struct pattern_group *g;

	qsort(s, count, sizeof(*s), by_p50);
	out->groups = grow_or_abort(out->groups, out->count, sizeof(*out->groups));
	g = &out->groups[out->count++];
	*g = (struct pattern_group){
	    .out = side, .p50 = s[(count - 1) / 2].p50, .count = (unsigned)count, .phase = phases};
	for (size_t i = 0; i < count; i++)
		phases[i] = s[i].phase;
	qsort(phases, count, sizeof(*phases), compare_phases);
	g->first = phases[0];
	g->last = phases[count - 1];
}

static void add_groups(struct pattern_phases *out, const struct phases *fold, const struct phases *values, int side,
		       unsigned *phases)
{
	struct standing *s = or_abort(calloc(fold->period, sizeof(*s)));
	size_t count = 0, next;

	for (unsigned p = 0; p < fold->period; p++)
		if (fold->phase[p].out == side)
			s[count++] =
			    (struct standing){p, (double)fold->phase[p].p50 - (double)fold->base, values->phase[p].p50};
	qsort(s, count, sizeof(*s), farthest_first);
	for (size_t first = 0; first < count; first = next) {
		const double farthest = s[first].beside;
		const double alike = fmax(ALIKE * fabs(farthest), ALIKE_ERRORS * fold->error);

		for (next = first; next < count && fabs(farthest - s[next].beside) <= alike; next++)
			;
		add_group(out, side, s + first, next - first, phases + first);
	}
	free(s);
}

void pattern_phases_make(const struct period_level *level, const struct period_sequence *original, size_t count,
			 struct pattern_phases *out)
{
	const unsigned period = level->fold.period;
	struct phases values;

	*out = (struct pattern_phases){.held = or_abort(calloc(2 * period, sizeof(unsigned)))};
	phases_fold(original, level->shifts, count, period, &values);
	add_groups(out, &level->fold, &values, 1, out->held);
	add_groups(out, &level->fold, &values, -1, out->held + period);
	phases_free(&values);
}

void pattern_phases_free(struct pattern_phases *p)
{
	free(p->groups);
	free(p->held);
}

const struct pattern_group *pattern_phases_slowest(const struct pattern_phases *p)
{
	const struct pattern_group *slowest = NULL;

	for (size_t i = 0; i < p->count; i++)
		if (p->groups[i].out > 0 && (!slowest || p->groups[i].p50 > slowest->p50))
			slowest = &p->groups[i];
	return slowest;
}

/* "15-16,31-32" */
static json_t *list_json(const struct pattern_group *g)
{
	char text[CPULIST_TEXT_MAX];
	struct cpulist list;

	cpulist_clear(&list);
	for (unsigned i = 0; i < g->count; i++)
		cpulist_add(&list, g->phase[i] + 1);
	return json_string(cpulist_format(&list, text, sizeof(text)));
}

json_t *pattern_phases_json(const struct pattern_phases *p, int out)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->count; i++)
		if (p->groups[i].out == out)
			json_array_append_new(list, json_pack("{s:o, s:I}", "phases", list_json(&p->groups[i]),
							      "p50_ns", (json_int_t)p->groups[i].p50));
	return list;
}
