#include "judge/claims/claim_metric.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/diag.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/sort.h"
#include "common/text.h"
#include "files/rundir/flows.h"
#include "judge/analysis/blocks.h"
#include "judge/analysis/param.h"
#include "judge/analysis/stats.h"
#include "judge/analysis/summary.h"

/* --- a period as a metric --- */

/*
 * What claims say about a period: "pattern.high_first(32)" is the first of the slowest phases of period 32, whether
 * that is the strongest period or is nested in another one, "pattern.strength(turn_ns, 2)" the strength of period 2 of
 * the series turn_ns, "pattern.base_ns(turn_ns)" a number of the pattern of that series. Pure.
 *
 * Without such a period, `period` and `strength` are 0, so that a claim about them fails, and other numbers are none.
 * `next_...` are of the phases that are the slowest but for those of `high_...`.
 */

enum claim_cycle_key {
	CYCLE_PERIOD,
	CYCLE_STRENGTH,
	CYCLE_BASE_NS,
	CYCLE_HIGH_NS,
	CYCLE_HIGH_FIRST,
	CYCLE_HIGH_LAST,
	CYCLE_NEXT_NS,
	CYCLE_NEXT_FIRST,
	CYCLE_NEXT_LAST,
	CYCLE_KEYS,
};

struct claim_cycle {
	enum claim_cycle_key key;
	char series[64];   /* "": the first one, of which a pattern is known */
	json_int_t period; /* 0: the strongest one */
};

/* --- its name --- */

static const struct {
	const char *name;
	enum pattern_number like;
} keys[CYCLE_KEYS] = {
    [CYCLE_PERIOD] = {"period", PATTERN_PERIOD},
    [CYCLE_STRENGTH] = {"strength", PATTERN_STRENGTH},
    [CYCLE_BASE_NS] = {"base_ns", PATTERN_BASE_NS},
    [CYCLE_HIGH_NS] = {"high_ns", PATTERN_HIGH_NS},
    [CYCLE_HIGH_FIRST] = {"high_first", PATTERN_HIGH_FIRST},
    [CYCLE_HIGH_LAST] = {"high_last", PATTERN_HIGH_LAST},
    [CYCLE_NEXT_NS] = {"next_ns", PATTERN_HIGH_NS},
    [CYCLE_NEXT_FIRST] = {"next_first", PATTERN_HIGH_FIRST},
    [CYCLE_NEXT_LAST] = {"next_last", PATTERN_HIGH_LAST},
};

/* One of the words in parentheses: a number is a period, anything else a series. */
static const char *take_word(const char *word, size_t length, struct claim_cycle *out)
{
	char *end;

	if (!length || length >= sizeof(out->series))
		return "in parentheses, a pattern has a series, a period (2 or more), or both";
	if (strspn(word, "0123456789") < length) {
		if (*out->series || out->period)
			return "in parentheses, a pattern's series comes first, and then a period";
		snprintf(out->series, sizeof(out->series), "%.*s", (int)length, word);
		return NULL;
	}
	if (out->period)
		return "in parentheses, a pattern has one period";
	out->period = strtoll(word, &end, 10);
	return out->period < 2 || out->period > INT32_MAX ? "a period is a number of messages, 2 or more" : NULL;
}

static const char *take_words(const char *at, struct claim_cycle *out)
{
	const char *close = strchr(at, ')'), *wrong = NULL;

	if (!close || close[1])
		return "')' must be the end of the metric";
	while (!wrong && at <= close) {
		size_t length;

		at += strspn(at, " ");
		length = strcspn(at, " ,)");
		wrong = take_word(at, length, out);
		at += length;
		at += strspn(at, " ");
		if (!wrong && at < close && *at != ',')
			wrong = "a comma is missing between a pattern's series and its period";
		at++;
	}
	return wrong;
}

/* Is this the name of such a number, "high_first(32)"? If so, and it makes no sense, `wrong` says why; otherwise it is
 * NULL. */
static bool claim_cycle_parse(const char *statistic, struct claim_cycle *out, const char **wrong)
{
	const size_t length = strcspn(statistic, "(");

	*out = (struct claim_cycle){0};
	*wrong = NULL;
	if (!statistic[length])
		return false;
	while (out->key < CYCLE_KEYS &&
	       (strlen(keys[out->key].name) != length || strncmp(statistic, keys[out->key].name, length)))
		out->key++;
	if (out->key == CYCLE_KEYS) {
		out->key = CYCLE_PERIOD;
		*wrong = "of a period there are: period, strength, base_ns, high_ns, high_first, high_last, next_ns, "
			 "next_first, next_last";
		return true;
	}
	*wrong = take_words(statistic + length + 1, out);
	if (!*wrong && out->key == CYCLE_BASE_NS && out->period)
		*wrong = "base_ns belongs to all periods of a series";
	return true;
}

/* The statistic of the block `pattern` that has the same unit. */
static const struct block_statistic *claim_cycle_like(const struct claim_cycle *c)
{
	return block_number_row(&pattern_block, keys[c->key].like);
}

/* --- its value --- */

/* A period with the phases that stand out. */
struct cycle {
	json_int_t period;
	double strength;
	const struct summary_phase_list *lists[2];
};

/* The one with that period; the strongest one for 0. */
static bool find_cycle(const struct summary_block *b, json_int_t period, struct cycle *out)
{
	const struct summary_pattern *p = b->pattern;
	const json_int_t strongest = number_count(b->numbers[PATTERN_PERIOD]);

	if (strongest && (!period || strongest == period)) {
		*out = (struct cycle){strongest, number_or_zero(b->numbers[PATTERN_STRENGTH]), {&p->high, &p->low}};
		return true;
	}
	for (size_t i = 0; period && i < p->nested_count; i++)
		if (p->nested[i].period == period) {
			*out = (struct cycle){period, p->nested[i].strength, {&p->nested[i].high, &p->nested[i].low}};
			return true;
		}
	return false;
}

/* The phases that take longest, except for `but`, but longer than the base; NULL if there are none. In a nested period,
 * phases of the outer one may be among those that are lower than expected, and still be slow. */
static const struct summary_phases *slowest(const struct cycle *c, double base, const struct summary_phases *but)
{
	const struct summary_phases *found = NULL;

	for (size_t l = 0; l < 2; l++)
		for (size_t i = 0; i < c->lists[l]->count; i++) {
			const struct summary_phases *p = &c->lists[l]->list[i];

			if (p != but && (double)p->p50_ns > base && (!found || p->p50_ns > found->p50_ns))
				found = p;
		}
	return found;
}

/* "15-16,31-32" */
static json_int_t last_of(const char *phases)
{
	const char *dash = strrchr(phases, '-'), *comma = strrchr(phases, ',');
	const char *at = dash > comma ? dash : comma;

	return strtoll(at ? at + 1 : phases, NULL, 10);
}

static struct number of_phases(const struct cycle *c, double base, enum claim_cycle_key key)
{
	const struct summary_phases *p = slowest(c, base, NULL);

	if (p && key >= CYCLE_NEXT_NS)
		p = slowest(c, base, p);
	if (!p)
		return number_none();
	if (key == CYCLE_HIGH_NS || key == CYCLE_NEXT_NS)
		return number_integer(p->p50_ns);
	return number_integer(key == CYCLE_HIGH_FIRST || key == CYCLE_NEXT_FIRST ? strtoll(p->phases, NULL, 10)
										 : last_of(p->phases));
}

static const struct summary_block *block_of(const struct summary_results *r, const char *flow, const char *series)
{
	const struct summary_block *b = summary_find_block(r, flow, &pattern_block);

	if (!b || !b->pattern || !*series || (b->about && !strcmp(b->about, series)))
		return b;
	for (size_t i = 0; i < b->pattern->other_count; i++)
		if (b->pattern->others[i].about && !strcmp(b->pattern->others[i].about, series))
			return &b->pattern->others[i];
	return NULL;
}

/* Of a flow ("" if points have none). Absent if the flow's pattern, or that of the series, is not known. */
static struct number claim_cycle_number(const struct summary_results *r, const char *flow, const struct claim_cycle *c)
{
	const struct summary_block *b = block_of(r, flow, c->series);
	struct cycle cycle;

	if (!b || !b->pattern)
		return (struct number){.kind = NUMBER_ABSENT};
	if (c->key == CYCLE_BASE_NS)
		return b->numbers[PATTERN_BASE_NS];
	if (!find_cycle(b, c->period, &cycle))
		return c->key <= CYCLE_STRENGTH ? number_integer(0) : number_none();
	if (c->key == CYCLE_PERIOD)
		return number_integer(cycle.period);
	if (c->key == CYCLE_STRENGTH)
		return number_real(cycle.strength);
	return of_phases(&cycle, number_or_zero(b->numbers[PATTERN_BASE_NS]), c->key);
}

#define NAMES_MAX 128
#define KEPT_MAX  2048 /* values per side: 4 million pairs */

/* Only by its key, as used in runs. */
static const struct statistic *find_series_statistic(const char *key)
{
	const struct statistic *s = statistic_find(key);

	return s && !strcmp(s->key, key) ? s : NULL;
}

static bool is_of_cycle(const struct claim_metric *m, struct claim_cycle *c)
{
	const char *wrong;

	return block_find(flows_bare_key(m->of)) == &pattern_block && claim_cycle_parse(m->statistic, c, &wrong) &&
	       !wrong;
}

/* The row of a block's number; NULL if it is not one. */
static const struct block_statistic *row_of(const struct claim_metric *m)
{
	const struct block *block = block_find(flows_bare_key(m->of));
	struct claim_cycle cycle;

	if (is_of_cycle(m, &cycle))
		return claim_cycle_like(&cycle);
	return block ? block_statistic_find(block, m->statistic) : NULL;
}

enum measure claim_metric_measure(const struct claim_metric *m)
{
	const struct block *block = block_find(flows_bare_key(m->of));
	const struct block_statistic *of_block = row_of(m);
	const struct statistic *of_series = block ? NULL : find_series_statistic(m->statistic);

	if (of_block)
		return of_block->measure;
	return of_series ? of_series->measure : MEASURE_SERIES;
}

enum over_reps claim_metric_over_reps(const struct claim_metric *m)
{
	const struct statistic *s = block_find(flows_bare_key(m->of)) ? NULL : find_series_statistic(m->statistic);

	return s ? s->over_reps : OVER_REPS_SPREAD;
}

enum unit claim_metric_unit(const struct claim_metric *m)
{
	const struct block_statistic *row = row_of(m);
	char name[64];

	/* The name contains it: "lat_ns.p50", "pattern.base_ns". */
	return claim_metric_measure(m) == MEASURE_SERIES ? param_name_unit(row ? row->key : m->of, name, sizeof(name))
							 : UNIT_ONE;
}

/* --- its number in a point --- */

const json_t *claim_point_param(const struct summary_point *point, const char *key)
{
	return json_object_get(point->params, key);
}

static struct number number_of(const struct summary_results *r, const struct claim_metric *metric)
{
	struct claim_cycle cycle;

	if (is_of_cycle(metric, &cycle))
		return claim_cycle_number(r, metric->flow, &cycle);
	return summary_number(r, metric->of, metric->statistic);
}

/* Why the number cannot be used for judging; NULL: it can. */
static char *trouble_with(const struct summary_point *point, const struct claim_metric *metric, struct number number)
{
	const char *reason = json_string_value(json_array_get(point->reasons, 0));
	char *lack = NULL;
	struct claim_cycle cycle;

	if (!point->valid)
		return fs_path("point %" JSON_INTEGER_FORMAT " is not valid: %s", point->id, reason ? reason : "?");
	if (summary_is_disturbed(point))
		return fs_path("point %" JSON_INTEGER_FORMAT " was disturbed: others took %.0f %% of its CPUs' time",
			       point->id, 100 * number_value(point->cpu_share_of_others));
	lack = summary_environment_lack(point);
	if (lack) {
		char *why = fs_path("point %" JSON_INTEGER_FORMAT ": %s", point->id, lack);

		free(lack);
		return why;
	}
	if (number.kind == NUMBER_ABSENT)
		return fs_path("point %" JSON_INTEGER_FORMAT " has no %s", point->id, metric->text);
	if (number.kind == NUMBER_NONE && is_of_cycle(metric, &cycle))
		return fs_path("point %" JSON_INTEGER_FORMAT ": nothing repeats so that it would have a %s", point->id,
			       metric->text);
	if (!number_is_known(number))
		return fs_path("point %" JSON_INTEGER_FORMAT ": too few samples for its %s", point->id, metric->text);
	return NULL;
}

/* A clock's error shifts a series' quantiles, but neither counts nor spreads. */
static bool is_shifted(const char *statistic)
{
	static const char *const spreads[] = {"stdev", "p90_p10"};
	const struct statistic *s = find_series_statistic(statistic);

	return s && s->measure == MEASURE_SERIES && strcmp(statistic, spreads[0]) && strcmp(statistic, spreads[1]);
}

#define SMALL_SHARE 0.01 /* of the limit: an error that moves few messages across it */

/* Why the clock's error keeps the number from being used; NULL: it does not. */
static char *read_clock_error(const struct summary_point *point, const struct claim_metric *metric, struct sample *s)
{
	const struct summary_metric *m = summary_metric_named(&point->results, metric->of);
	const double error = m ? number_or_zero(m->clock_error) : 0;
	const json_t *limit = flows_get(point->params, metric->flow, "limit_ns");
	char human[2][48];

	if (error > 0 && is_shifted(metric->statistic))
		s->clock_error = error;
	if (strcmp(metric->statistic, "over_limit") || error <= SMALL_SHARE * json_number_value(limit))
		return NULL;
	return fs_path(
	    "point %" JSON_INTEGER_FORMAT
	    ": the clock between the hosts may be off by %s, and the limit is %s: how many messages are over it "
	    "is not known",
	    point->id, unit_human_ns(llround(error), human[0], sizeof(human[0])),
	    unit_human_ns(json_integer_value(limit), human[1], sizeof(human[1])));
}

/* What a share of events is a share of; absent for other numbers. */
static struct number whole_of(const struct summary_results *r, const struct claim_metric *metric)
{
	static const char *const of_steps[] = {"missed_share", "unsent_share"};

	if (!strcmp(metric->statistic, "over_limit"))
		return summary_number(r, metric->of, "n");
	for (size_t i = 0; i < 2; i++)
		if (block_find(flows_bare_key(metric->of)) == &pacing_block && !strcmp(metric->statistic, of_steps[i]))
			return summary_number(r, metric->of, "steps");
	return (struct number){.kind = NUMBER_ABSENT};
}

static double median_of_reps(const struct sample *s)
{
	double *copy = or_abort(malloc((s->reps + 1) * sizeof(*copy))), median;

	memcpy(copy, s->rep, s->reps * sizeof(*copy));
	median = sort_median(copy, s->reps);
	free(copy);
	return median;
}

/* Since the second rules: an extreme is that of a repetition. That of all may be a single event, and grows with their
 * number. */
static void take_typical_extreme(struct sample *s)
{
	if (s->over_reps != OVER_REPS_MIN && s->over_reps != OVER_REPS_MAX)
		return;
	s->over_reps = OVER_REPS_SPREAD;
	if (s->reps)
		s->value = median_of_reps(s);
}

static void read_reps(const struct summary_point *point, const struct claim_metric *metric, int rules, struct sample *s)
{
	double *values = or_abort(calloc(point->rep_count + 1, sizeof(*values)));
	double *of = or_abort(calloc(point->rep_count + 1, sizeof(*of)));
	bool counts = rules >= CLAIM_RULES;

	for (size_t i = 0; i < point->rep_count; i++) {
		double value = number_value(number_of(&point->reps[i].results, metric));
		double whole = number_value(whole_of(&point->reps[i].results, metric));

		if (isnan(value))
			continue;
		counts &= whole > 0;
		of[s->reps] = whole;
		values[s->reps++] = value;
	}
	s->rep = values;
	s->of = of;
	if (counts)
		return;
	free(of);
	s->of = NULL;
}

bool claim_point_sample(const struct summary_point *point, const struct claim_metric *metric, int rules,
			struct sample *s, char **why)
{
	struct number number = number_of(&point->results, metric);

	*s = (struct sample){.over_reps = claim_metric_over_reps(metric), .value = number_or_zero(number)};
	*why = trouble_with(point, metric, number);
	if (!*why && rules >= CLAIM_RULES)
		*why = read_clock_error(point, metric, s);
	if (*why)
		return false;
	read_reps(point, metric, rules, s);
	if (rules >= CLAIM_RULES)
		take_typical_extreme(s);
	return true;
}

void claim_sample_free(struct sample *s)
{
	free((double *)s->rep);
	free((double *)s->of);
	s->rep = s->of = NULL;
}

/* --- errors in a metric --- */

/* Write the keys of all statistics, including those of blocks, to `names` (NAMES_MAX entries). */
static void list_all_statistics(const char **names)
{
	size_t count = 0;

	for (size_t i = 0; i < STATISTICS; i++)
		names[count++] = statistics[i].key;
	for (size_t b = 0; blocks[b]; b++)
		for (const struct block_statistic *s = blocks[b]->statistics; s->key && count + 1 < NAMES_MAX; s++)
			names[count++] = s->key;
	names[count] = NULL;
}

/* Write the names of all blocks and series to `names` (NAMES_MAX entries). */
static void list_metrics(const char *const *series, const char **names)
{
	size_t count = 0;

	for (size_t b = 0; blocks[b]; b++)
		names[count++] = blocks[b]->name;
	while (*series && count + 1 < NAMES_MAX)
		names[count++] = *series++;
	names[count] = NULL;
}

/* Does the metric belong to all flows of a point together? */
static bool is_of_point(const struct claim_metric *m)
{
	const struct block *block = block_find(m->of);

	return block && block->of_point;
}

static void check_flow(struct complaints *c, const struct claim_metric *m, const struct claim_metric_names *n)
{
	char text[SUGGESTION_MAX];

	if (*m->flow && n->flows && !text_is_among(m->flow, n->flows))
		complain(c, "no point has a flow '%.32s'%s", m->flow,
			 suggestion(suggest(m->flow, n->flows), text, sizeof(text)));
	else if (!*m->flow && n->flows && n->only_flows && !is_of_point(m))
		complain(c, "'metric' must name the flow, too: all points have flows; did you mean '%s.%.63s'?",
			 n->flows[0], m->text);
}

static void check_known(struct complaints *c, const char *metric, const char *const *metrics)
{
	char text[SUGGESTION_MAX];

	if (!text_is_among(metric, metrics))
		complain(c, "no kernel has a series '%.63s'%s", metric,
			 suggestion(suggest(metric, metrics), text, sizeof(text)));
}

static void check_statistic(struct complaints *c, const char *metric, const char *statistic)
{
	const char *all[NAMES_MAX];
	const struct block *block = block_find(metric);
	bool found = block ? block_statistic_find(block, statistic) != NULL : find_series_statistic(statistic) != NULL;
	char text[SUGGESTION_MAX];
	struct claim_cycle cycle;
	const char *wrong;

	if (block == &pattern_block && claim_cycle_parse(statistic, &cycle, &wrong)) {
		if (wrong)
			complain(c, "'pattern.%.63s': %s", statistic, wrong);
		return;
	}
	list_all_statistics(all);
	if (!found && text_is_among(statistic, all))
		complain(c, "'%.63s' has no '%s'", metric, statistic);
	else if (!found)
		complain(c, "no series has a statistic '%.32s'%s", statistic,
			 suggestion(suggest(statistic, all), text, sizeof(text)));
}

void claim_metric_check(const struct claim_metric *m, const struct claim_metric_names *n, struct complaints *c)
{
	const char *metrics[NAMES_MAX], *metric = flows_bare_key(m->of);
	struct claim_cycle cycle;

	list_metrics(n->series, metrics);
	if (text_is_among(m->flow, metrics)) {
		/* "lat_ns.p99.9" */
		check_statistic(c, m->flow, m->text + strlen(m->flow) + 1);
		return;
	}
	check_flow(c, m, n);
	check_known(c, metric, metrics);
	check_statistic(c, metric, m->statistic);
	if (is_of_cycle(m, &cycle) && *cycle.series)
		check_known(c, cycle.series, n->series);
}

/* --- what two numbers are combined to --- */

static double divide(double a, double b)
{
	return b == 0 ? (a < 0 ? -INFINITY : INFINITY) : a / b;
}

static double subtract(double a, double b)
{
	return a - b;
}

static void include_value(struct estimate *e, double value)
{
	e->has_interval = true;
	e->low = fmin(e->low, value);
	e->high = fmax(e->high, value);
}

/* --- intervals: by ranks --- */

/* The extreme of all repetitions may be that of a single event, so its interval covers the extremes of all. */
static bool is_extreme(const struct sample *s)
{
	return s->over_reps == OVER_REPS_MIN || s->over_reps == OVER_REPS_MAX;
}

/* Set the interval from the value of rank `rank` (from 1) to the one at the same distance from the end. */
static void reach_to_rank(struct estimate *e, double *values, size_t count, double rank)
{
	size_t from = rank < 1 ? 0 : (size_t)rank - 1;

	sort_doubles(values, count);
	include_value(e, values[from]);
	include_value(e, values[count - 1 - from]);
}

/* On either side. */
static double tail_of(const struct sample *s)
{
	return (s->error > 0 ? s->error : CLAIM_ERROR) / 2;
}

/* The largest rank below which the median lies in at most this share of samples of size n: binomial, or normal if n is
 * large. */
static double sign_rank(double n, double tail)
{
	double share = exp2(-n), below = 0, rank = 0;

	if (n > 50)
		return (n - stats_normal_quantile(tail) * sqrt(n)) / 2;
	while (below + share <= tail) {
		below += share;
		rank++;
		share *= (n - rank + 1) / rank;
	}
	return rank;
}

static void rank_one(struct estimate *e, const struct sample *s)
{
	double *values = or_abort(malloc(s->reps * sizeof(*values)));

	for (size_t i = 0; i < s->reps; i++)
		values[i] = s->rep[i];
	reach_to_rank(e, values, s->reps, is_extreme(s) ? 0 : sign_rank((double)s->reps, tail_of(s)));
	free(values);
}

/* Sorted, so that one of several values can represent its neighbours. The caller frees. */
static double *sorted(const struct sample *s)
{
	double *values = or_abort(malloc(s->reps * sizeof(*values)));

	memcpy(values, s->rep, s->reps * sizeof(*values));
	sort_doubles(values, s->reps);
	return values;
}

/* The value in the middle of the `i`-th of `kept` equal parts. */
static double one_of(const double *values, size_t count, size_t i, size_t kept)
{
	return values[kept == count ? i : (size_t)(((double)i + 0.5) * (double)count / (double)kept)];
}

/* If there are very many repetitions, evenly spaced ones represent all, so that the pairs fit in
 * memory; the rank among all pairs is scaled to those made. */
static void rank_pairs(struct estimate *e, const struct sample *a, const struct sample *b,
		       double (*combine)(double, double))
{
	double n = (double)a->reps, m = (double)b->reps, *x = sorted(a), *y = sorted(b), *values;
	double rank =
	    is_extreme(a) ? 0 : n * m / 2 - stats_normal_quantile(tail_of(a)) * sqrt(n * m * (n + m + 1) / 12);
	size_t rows = a->reps < KEPT_MAX ? a->reps : KEPT_MAX, columns = b->reps < KEPT_MAX ? b->reps : KEPT_MAX;
	size_t pairs = rows * columns;

	values = or_abort(malloc(pairs * sizeof(*values)));
	for (size_t i = 0; i < pairs; i++)
		values[i] = combine(one_of(x, a->reps, i / columns, rows), one_of(y, b->reps, i % columns, columns));
	reach_to_rank(e, values, pairs, rank * ((double)pairs / (n * m)));
	free(values);
	free(y);
	free(x);
}

/* --- intervals of counts --- */

/*
 * Rare events, as a Poisson variable of which the repetitions are samples: how many, of how many messages, both divided
 * by their dispersion where they come in bursts.
 */
struct events {
	double count, of;
};

#define REPS_TO_COUNT 4	  /* with fewer, their dispersion is not known */
#define RARE_SHARE    0.1 /* more are not rare */

static bool are_counts(const struct sample *s)
{
	return s->of && s->reps >= REPS_TO_COUNT && s->value < RARE_SHARE;
}

static struct events events_of(const struct sample *s)
{
	struct events e = {0};
	double dispersion = 0;

	for (size_t i = 0; i < s->reps; i++) {
		e.count += s->rep[i] * s->of[i];
		e.of += s->of[i];
	}
	for (size_t i = 0; i < s->reps && e.count > 0; i++) {
		const double expected = e.count * s->of[i] / e.of, off = s->rep[i] * s->of[i] - expected;

		dispersion += off * off / expected / (double)(s->reps - 1);
	}
	dispersion = fmax(dispersion, 1);
	return (struct events){e.count / dispersion, e.of / dispersion};
}

#define ROOT_OFFSET 0.375 /* the root of a Poisson variable and this has a variance of 1/4 (Anscombe 1948) */

static double events_bound(const struct events *e, double z)
{
	const double root = sqrt(e->count + ROOT_OFFSET) + z / 2;

	return root > 0 && (e->count > 0 || z > 0) ? fmax(0, root * root - ROOT_OFFSET) / e->of : 0;
}

/* By how many standard deviations two counts differ from this ratio of them (Gu, Ng, Tang and Schucany 2008). */
static double off_ratio(const struct events *a, const struct events *b, double ratio)
{
	const double scaled = ratio * a->of / b->of;

	return 2 * (sqrt(a->count + ROOT_OFFSET) - sqrt(scaled * (b->count + ROOT_OFFSET))) / sqrt(1 + scaled);
}

/* The ratio from which they differ by z standard deviations. */
static double ratio_bound(const struct events *a, const struct events *b, double z)
{
	double low = 0, high = 1;

	while (off_ratio(a, b, high) > z && high < 1e12)
		high *= 2;
	for (int i = 0; i < 100; i++) {
		const double middle = (low + high) / 2;

		*(off_ratio(a, b, middle) > z ? &low : &high) = middle;
	}
	return high;
}

static void count_ratio(struct estimate *e, const struct sample *a, const struct sample *b)
{
	const struct events x = events_of(a), y = events_of(b);
	const double z = stats_normal_quantile(tail_of(a));

	include_value(e, x.count > 0 ? ratio_bound(&x, &y, z) : 0);
	include_value(e, y.count > 0 ? ratio_bound(&x, &y, -z) : INFINITY);
}

/* From the two intervals (Zou and Donner 2008). */
static void count_difference(struct estimate *e, const struct sample *a, const struct sample *b)
{
	const struct events x = events_of(a), y = events_of(b);
	const double z = stats_normal_quantile(tail_of(a)), p = x.count / x.of, q = y.count / y.of;

	include_value(e, e->value - hypot(p - events_bound(&x, -z), events_bound(&y, z) - q));
	include_value(e, e->value + hypot(events_bound(&x, z) - p, q - events_bound(&y, -z)));
}

static void count_one(struct estimate *e, const struct sample *s)
{
	const struct events x = events_of(s);
	const double z = stats_normal_quantile(tail_of(s));

	include_value(e, events_bound(&x, -z));
	include_value(e, events_bound(&x, z));
}

/* --- the error of the clock --- */

/* What is shifted by up to the error of each; what becomes 0 or less has no ratio. */
static void include_clock_ratio(struct estimate *e, const struct sample *a, const struct sample *b)
{
	const double up = a->value > 0 ? a->clock_error / a->value : 0;
	const double down = b->value > 0 ? b->clock_error / b->value : 0;

	if (!(a->clock_error > 0 || b->clock_error > 0))
		return;
	e->clock_error = fmax(a->clock_error, b->clock_error);
	include_value(e, up < 1 ? e->low * (1 - up) / (1 + down) : 0);
	include_value(e, down < 1 ? e->high * (1 + up) / (1 - down) : INFINITY);
}

static void include_clock(struct estimate *e, double error)
{
	if (!(error > 0))
		return;
	e->clock_error = error;
	include_value(e, e->low - error);
	include_value(e, e->high + error);
}

/* --- estimates with their intervals --- */

struct estimate estimate_value(const struct sample *s)
{
	struct estimate e = {s->value, false, s->value, s->value, 0};

	if (are_counts(s))
		count_one(&e, s);
	else if (s->over_reps != OVER_REPS_SUM && s->reps > 1)
		rank_one(&e, s);
	include_clock(&e, s->clock_error);
	return e;
}

/* If a claim compares a median with a maximum, there is no interval. */
static struct estimate estimate_pair(const struct sample *a, const struct sample *b, double (*combine)(double, double),
				     void (*count)(struct estimate *e, const struct sample *a, const struct sample *b))
{
	double value = combine(a->value, b->value);
	struct estimate e = {value, false, value, value, 0};

	if (are_counts(a) && are_counts(b))
		count(&e, a, b);
	else if (is_extreme(a) == is_extreme(b) && a->over_reps != OVER_REPS_SUM && b->over_reps != OVER_REPS_SUM &&
		 a->reps && b->reps && a->reps + b->reps > 2)
		rank_pairs(&e, a, b, combine);
	return e;
}

struct estimate estimate_difference(const struct sample *a, const struct sample *b)
{
	struct estimate e = estimate_pair(a, b, subtract, count_difference);

	include_clock(&e, a->clock_error + b->clock_error);
	return e;
}

struct estimate estimate_ratio(const struct sample *a, const struct sample *b)
{
	struct estimate e = estimate_pair(a, b, divide, count_ratio);

	include_clock_ratio(&e, a, b);
	return e;
}
