#include "analysis/pattern.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/pattern_phases.h"
#include "analysis/period.h"
#include "analysis/series.h"
#include "analysis/span.h"
#include "common/or_abort.h"

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

/* --- JSON --- */

/* Rounded to multiples of 1 / `parts`, because the last bits of a sum may depend on the compiler. */
static json_t *with_digits(double value, double parts)
{
	return json_real(round(value * parts) / parts);
}

static json_t *reps_json(const struct rep *reps, size_t count, const struct period_level *level)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_pack("{s:I, s:I}", "rep", (json_int_t)reps[i].number, "shift",
						      (json_int_t)level->shifts[i]));
	return list;
}

static void add_slowest(json_t *block, const struct pattern_group *g)
{
	json_object_set_new(block, "high_ns", g ? json_integer(g->p50) : json_null());
	json_object_set_new(block, "high_first", g ? json_integer(g->first + 1) : json_null());
	json_object_set_new(block, "high_last", g ? json_integer(g->last + 1) : json_null());
}

static json_t *level_json(const struct period_level *level, const struct pattern_phases *p)
{
	return json_pack("{s:I, s:o, s:o, s:o}", "period", (json_int_t)level->fold.period, "strength",
			 with_digits(level->strength, 1e4), "high", pattern_phases_json(p, 1), "low",
			 pattern_phases_json(p, -1));
}

static json_t *nested_json(const struct periods *found, const struct period_sequence *original, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 1; i < found->count; i++) {
		struct pattern_phases p;

		pattern_phases_make(&found->level[i], original, count, &p);
		json_array_append_new(list, level_json(&found->level[i], &p));
		pattern_phases_free(&p);
	}
	return list;
}

static void add_periods(json_t *block, const struct periods *found, const struct period_sequence *original,
			const struct rep *reps, size_t count)
{
	const struct period_level *level = &found->level[0];
	struct pattern_phases p;

	pattern_phases_make(level, original, count, &p);
	json_object_update_new(block, level_json(level, &p));
	json_object_set_new(block, "base_ns", json_integer(level->fold.base));
	add_slowest(block, pattern_phases_slowest(&p));
	json_object_set_new(block, "nested", nested_json(found, original, count));
	json_object_set_new(block, "reps", reps_json(reps, count, level));
	pattern_phases_free(&p);
}

static json_t *found_json(const struct layout_series *s, const struct periods *found,
			  const struct period_sequence *original, const struct rep *reps, size_t count)
{
	json_t *block = json_pack("{s:s, s:n, s:f, s:n, s:n, s:n, s:n, s:[], s:[], s:[], s:I, s:I, s:o, s:o, s:i, s:i}",
				  "series", s->name, "period", "strength", 0.0, "base_ns", "high_ns", "high_first",
				  "high_last", "high", "low", "nested", "entries", (json_int_t)found->entries,
				  "longest", (json_int_t)found->longest, "evidence", with_digits(found->evidence, 10),
				  "threshold", found->threshold > 0 ? with_digits(found->threshold, 10) : json_null(),
				  "shuffles", PERIOD_SHUFFLES, "seed", PERIOD_SEED);

	if (found->count)
		add_periods(block, found, original, reps, count);
	return block;
}

static json_t *pattern_json(const struct layout_series *s, const struct rep *reps, size_t count)
{
	struct period_sequence *left = or_abort(calloc(2 * count + 1, sizeof(*left))), *original = left + count;
	struct periods found;
	json_t *block;

	for (size_t i = 0; i < count; i++) {
		pattern_sequence(s, &reps[i], &left[i]);
		pattern_sequence(s, &reps[i], &original[i]);
	}
	periods_find(left, count, &found);
	block = found_json(s, &found, original, reps, count);
	periods_free(&found);
	for (size_t i = 0; i < 2 * count; i++)
		free(left[i].values);
	free(left);
	return block;
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

static json_t *pattern_of_flow(const struct layout_flow *f, const struct rep *reps, size_t count, const json_t *granted)
{
	const struct layout_series *first = pattern_series(f);
	json_t *block = first ? pattern_json(first, reps, count) : NULL, *others;

	(void)granted;
	if (!block)
		return NULL;
	others = json_object();
	for (unsigned i = 0; i < f->series_count; i++)
		if (has_own_order(&f->series[i]) && &f->series[i] != first)
			json_object_set_new(others, f->series[i].name, pattern_json(&f->series[i], reps, count));
	json_object_set_new(block, "others", others);
	return block;
}

static const struct block_statistic pattern_statistics[] = {
    {.key = "period",
     .label = "period",
     .measure = MEASURE_COUNT,
     .shown = SHOWN_TABLE | SHOWN_REPORT,
     .spare = 8,
     .help = "number of messages after which latencies repeat; none: they do not repeat"},
    {.key = "strength",
     .label = "% by period",
     .measure = MEASURE_SHARE,
     .help = "share of the variance of the latencies' ranks that the period explains; 0 without one"},
    {.key = "base_ns", .label = "base", .measure = MEASURE_SERIES, .help = "the median of most phases of the period"},
    {.key = "high_ns", .label = "high", .measure = MEASURE_SERIES, .help = "the median of its slowest phases"},
    {.key = "high_first",
     .label = "from phase",
     .measure = MEASURE_COUNT,
     .help = "the first of these phases (counted from 1)"},
    {.key = "high_last", .label = "to phase", .measure = MEASURE_COUNT, .help = "the last of them"},
    {.key = NULL},
};

const struct block pattern_block = {
    .name = "pattern",
    .make = pattern_of_flow,
    .statistics = pattern_statistics,
};
