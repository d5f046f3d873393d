#include "judge/analysis/pattern.h"

#include <math.h>
#include <stdlib.h>

#include "common/cpulist.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "judge/analysis/period.h"
#include "judge/analysis/series.h"
#include "judge/analysis/stats.h"
#include "judge/analysis/summary.h"

/*
 * The phases of a period that stand out, in the form in which they are reported: similar ones in
 * one group, the groups farthest from the base first.
 */

/* Phases are numbered from 0; `p50` is that of the original values, regardless of what previous
 * levels explain. */
struct pattern_group {
	int out; /* as in struct phase */
	int64_t p50;
	unsigned first, last; /* the lowest and the highest of them */
	unsigned count;
	unsigned *phase; /* [count], ascending */
};

struct pattern_phases {
	struct pattern_group *groups;
	size_t count;
	unsigned *held;
};

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

/* `original`: the sequences before anything was subtracted. Release with pattern_phases_free(). */
static void pattern_phases_make(const struct period_level *level, const struct period_sequence *original, size_t count,
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

static void pattern_phases_free(struct pattern_phases *p)
{
	free(p->groups);
	free(p->held);
}

/* The group above the base with the largest median; NULL: there is none. */
static const struct pattern_group *pattern_phases_slowest(const struct pattern_phases *p)
{
	const struct pattern_group *slowest = NULL;

	for (size_t i = 0; i < p->count; i++)
		if (p->groups[i].out > 0 && (!slowest || p->groups[i].p50 > slowest->p50))
			slowest = &p->groups[i];
	return slowest;
}

/* "15-16,31-32" */
static char *group_text(const struct pattern_group *g)
{
	char text[CPULIST_TEXT_MAX];
	struct cpulist list;

	cpulist_clear(&list);
	for (unsigned i = 0; i < g->count; i++)
		cpulist_add(&list, g->phase[i] + 1);
	return fs_path("%s", cpulist_format(&list, text, sizeof(text)));
}

/* The groups above (1) or below (-1) the base, with phases numbered from 1; the caller frees the list and its texts. */
static struct summary_phase_list pattern_phases_list(const struct pattern_phases *p, int out)
{
	struct summary_phase_list list = {or_abort(calloc(p->count + 1, sizeof(*list.list))), 0};

	for (size_t i = 0; i < p->count; i++)
		if (p->groups[i].out == out)
			list.list[list.count++] =
			    (struct summary_phases){group_text(&p->groups[i]), (json_int_t)p->groups[i].p50};
	return list;
}

void pattern_sequence(const struct layout_series *s, const struct rep *r, struct period_sequence *out)
{
	const struct span span = series_span(r, s);
	const size_t before = s->lag && span.count; /* the first message has no predecessor */

	*out = (struct period_sequence){or_abort(malloc((span.count + before + 1) * sizeof(int64_t))),
					span.count + before};
	out->values[0] = NEVER;
	for (size_t i = 0; i < span.count; i++) {
		int64_t value;

		out->values[i + before] = span_sample(&span, i, &value) ? value : NEVER;
	}
}

/* --- what was found --- */

/* Rounded to multiples of 1 / `parts`, because the last bits of a sum may depend on the compiler. */
static double with_digits(double value, double parts)
{
	return round(value * parts) / parts;
}

static struct summary_period period_of(const struct period_level *level, const struct pattern_phases *p)
{
	return (struct summary_period){
	    .period = (json_int_t)level->fold.period,
	    .strength = with_digits(level->strength, 1e4),
	    .high = pattern_phases_list(p, 1),
	    .low = pattern_phases_list(p, -1),
	};
}

static void set_shifts(struct summary_pattern *out, const struct rep *reps, size_t count,
		       const struct period_level *level)
{
	out->shifts = or_abort(calloc(count + 1, sizeof(*out->shifts)));
	out->shift_count = count;
	for (size_t i = 0; i < count; i++)
		out->shifts[i] = (struct summary_shift){(json_int_t)reps[i].number, (json_int_t)level->shifts[i]};
}

static void set_slowest(struct number *n, const struct pattern_group *g)
{
	if (!g)
		return;
	n[PATTERN_HIGH_NS] = number_integer(g->p50);
	n[PATTERN_HIGH_FIRST] = number_integer(g->first + 1);
	n[PATTERN_HIGH_LAST] = number_integer(g->last + 1);
}

static void set_nested(struct summary_pattern *out, const struct periods *found, const struct period_sequence *original,
		       size_t count)
{
	out->nested = or_abort(calloc(found->count, sizeof(*out->nested)));
	for (size_t i = 1; i < found->count; i++) {
		struct pattern_phases p;

		pattern_phases_make(&found->level[i], original, count, &p);
		out->nested[out->nested_count++] = period_of(&found->level[i], &p);
		pattern_phases_free(&p);
	}
}

static void set_periods(struct summary_block *out, const struct periods *found, const struct period_sequence *original,
			const struct rep *reps, size_t count)
{
	const struct period_level *level = &found->level[0];
	struct summary_period strongest;
	struct pattern_phases p;

	pattern_phases_make(level, original, count, &p);
	strongest = period_of(level, &p);
	out->numbers[PATTERN_PERIOD] = number_integer(strongest.period);
	out->numbers[PATTERN_STRENGTH] = number_real(strongest.strength);
	out->numbers[PATTERN_BASE_NS] = number_integer(level->fold.base);
	set_slowest(out->numbers, pattern_phases_slowest(&p));
	out->pattern->high = strongest.high;
	out->pattern->low = strongest.low;
	set_nested(out->pattern, found, original, count);
	set_shifts(out->pattern, reps, count, level);
	pattern_phases_free(&p);
}

static void set_found(struct summary_block *out, const struct layout_series *s, const struct periods *found)
{
	struct number *n = out->numbers;

	for (unsigned i = PATTERN_PERIOD; i < PATTERN_ENTRIES; i++)
		n[i] = number_none();
	n[PATTERN_STRENGTH] = number_real(0);
	n[PATTERN_ENTRIES] = number_integer((json_int_t)found->entries);
	n[PATTERN_LONGEST] = number_integer((json_int_t)found->longest);
	n[PATTERN_EVIDENCE] = number_real(with_digits(found->evidence, 10));
	n[PATTERN_THRESHOLD] = found->threshold > 0 ? number_real(with_digits(found->threshold, 10)) : number_none();
	n[PATTERN_SHUFFLES] = number_integer(PERIOD_SHUFFLES);
	n[PATTERN_SEED] = number_integer(PERIOD_SEED);
	out->about = fs_path("%s", s->name);
	out->pattern = or_abort(calloc(1, sizeof(*out->pattern)));
}

static void pattern_of_series(const struct layout_series *s, const struct rep *reps, size_t count,
			      struct summary_block *out)
{
	struct period_sequence *left = or_abort(calloc(2 * count + 1, sizeof(*left))), *original = left + count;
	struct periods found;

	for (size_t i = 0; i < count; i++) {
		pattern_sequence(s, &reps[i], &left[i]);
		pattern_sequence(s, &reps[i], &original[i]);
	}
	periods_find(left, count, &found);
	set_found(out, s, &found);
	if (found.count)
		set_periods(out, &found, original, reps, count);
	periods_free(&found);
	for (size_t i = 0; i < 2 * count; i++)
		free(left[i].values);
	free(left);
}

/* --- the block --- */

static bool has_own_order(const struct layout_series *s)
{
	return s->divide != 2 && !s->sparse;
}

const struct layout_series *pattern_series(const struct layout_flow *f)
{
	for (unsigned i = 0; i < f->series_count; i++)
		if (has_own_order(&f->series[i]))
			return &f->series[i];
	return NULL;
}

static void set_others(const struct layout_flow *f, const struct rep *reps, size_t count, struct summary_pattern *out)
{
	out->leads = true;
	out->others = or_abort(calloc(f->series_count, sizeof(*out->others)));
	for (unsigned i = 0; i < f->series_count; i++)
		if (has_own_order(&f->series[i]) && &f->series[i] != pattern_series(f)) {
			struct summary_block *other = &out->others[out->other_count++];

			*other = (struct summary_block){.of = &pattern_block, .flow = fs_path("%s", f->name)};
			pattern_of_series(&f->series[i], reps, count, other);
		}
}

static bool pattern_make(const struct layout_flow *f, const struct rep *reps, size_t count, const json_t *granted,
			 struct summary_block *out)
{
	const struct layout_series *first = pattern_series(f);

	(void)granted;
	if (!first || f->traits.rules.unordered)
		return false;
	pattern_of_series(first, reps, count, out);
	set_others(f, reps, count, out->pattern);
	return true;
}

static const struct block_statistic pattern_statistics[] = {
    {.key = "period",
     .number = PATTERN_PERIOD,
     .label = "period",
     .measure = MEASURE_COUNT,
     .shown = SHOWN_TABLE | SHOWN_REPORT,
     .drop_order = 8,
     .help = "number of messages after which latencies repeat; none: they do not repeat"},
    {.key = "strength",
     .number = PATTERN_STRENGTH,
     .label = "% by period",
     .measure = MEASURE_SHARE,
     .help = "share of the variance of the latencies' ranks that the period explains; 0 without one"},
    {.key = "base_ns",
     .number = PATTERN_BASE_NS,
     .label = "base",
     .measure = MEASURE_SERIES,
     .help = "the median of most phases of the period"},
    {.key = "high_ns",
     .number = PATTERN_HIGH_NS,
     .label = "high",
     .measure = MEASURE_SERIES,
     .help = "the median of its slowest phases"},
    {.key = "high_first",
     .number = PATTERN_HIGH_FIRST,
     .label = "from phase",
     .measure = MEASURE_COUNT,
     .help = "the first of these phases (counted from 1)"},
    {.key = "high_last",
     .number = PATTERN_HIGH_LAST,
     .label = "to phase",
     .measure = MEASURE_COUNT,
     .help = "the last of them"},
    {.key = NULL},
};

static const struct block_statistic pattern_facts[] = {
    {.key = "entries", .number = PATTERN_ENTRIES},
    {.key = "longest", .number = PATTERN_LONGEST},
    {.key = "evidence", .number = PATTERN_EVIDENCE},
    {.key = "threshold", .number = PATTERN_THRESHOLD},
    {.key = "shuffles", .number = PATTERN_SHUFFLES},
    {.key = "seed", .number = PATTERN_SEED},
    {.key = NULL},
};

const struct block pattern_block = {
    .name = "pattern",
    .make = pattern_make,
    .statistics = pattern_statistics,
    .facts = pattern_facts,
};
