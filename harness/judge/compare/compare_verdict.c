#include "judge/compare/compare_verdict.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/or_abort.h"
#include "judge/analysis/stats.h"

#define NOISE_TAIL 0.025 /* on each side: 5 % of comparisons without a change exceed the noise */
/* Approximately the part of the worse side's alpha that max-T leaves to the medians of all points. */
#define MEDIAN_LEVEL 0.8

/* --- the margin, and what cannot be told apart --- */

/* Of imported samples, by the description of their points. */
static double resolution_of_points(const json_t *resolved)
{
	const json_t *point;
	double coarsest = 0;
	size_t i;

	json_array_foreach (json_object_get(resolved, "points"), i, point) {
		const json_t *rules = json_object_get(json_object_get(point, "traits"), "rules");

		coarsest = fmax(coarsest, json_number_value(json_object_get(rules, "resolution_ns")));
	}
	return coarsest;
}

/* Stamps are whole nanoseconds; a counter may be coarser, and the bins of an imported histogram, or the digits of a number,
 * may be as coarse as a part of the value. */
static double resolution_ns(const struct compare_values *v, const struct compare_runs *runs)
{
	double level = fmax(fabs(v->level[ARM_BASE]), fabs(v->level[ARM_WITH])), coarsest = 1;

	for (size_t i = 0; i < runs->count; i++) {
		const struct run *run = &runs->run[i].run;
		const json_t *clock = run->record.clock;
		double hz = json_number_value(json_object_get(clock, "hz"));
		double ppm = json_number_value(json_object_get(clock, "bin_ppm"));

		if (hz > 0)
			coarsest = fmax(coarsest, 1e9 / hz);
		coarsest = fmax(coarsest, resolution_of_points(run->resolved));
		coarsest = fmax(coarsest, ppm / 1e6 * level);
	}
	return coarsest;
}

struct compare_entry compare_entry_make(const struct compare_join *j, const struct compare_point *p,
					const struct compare_values *v, const struct compare_rule *rule)
{
	return (struct compare_entry){
	    .point = p,
	    .values = v,
	    .margin = compare_rule_margin(rule, v),
	    .step = v->of.measure == MEASURE_SERIES ? resolution_ns(v, j->runs) : 0,
	    .decides = compare_rule_decides(rule, p, v),
	};
}

/* --- noise: which changes can be detected, as opposed to which are harmless --- */

/*
 * The standard error of a share of messages if chance makes each of them late. Boots agree by more than that where a timer
 * beats with the messages: how many it hits then depends on their length, and is the same in each boot. That is no knowledge of
 * how often messages are late.
 */
static double counting_error(const struct compare_values *v)
{
	double base = v->counted[ARM_BASE], with = v->counted[ARM_WITH];
	/* Two more of each kind (Agresti and Coull 1998): none of a few messages is no proof that there never are any. */
	double share = (v->level[ARM_BASE] * base + v->level[ARM_WITH] * with + 2) / (base + with + 4);

	/* Blocks of the summary have shares of something else, which is not counted. */
	if (v->of.measure != MEASURE_SHARE || !(base > 0 && with > 0 && isfinite(base + with)))
		return 0;
	return sqrt(share * (1 - share) * (1 / base + 1 / with));
}

static double error_of_entry(const struct compare_entry *t)
{
	return fmax(t->perm->error, counting_error(t->values));
}

/* Is the change no larger than what is known of each value? */
static bool is_within_step(const struct compare_entry *t)
{
	return t->step > 0 && fabs(compare_amount(t->values, t->perm->effect)) <= t->step * (1 + 1e-9);
}

/* Is the change no larger than what counting gives? */
static bool is_by_counting(const struct compare_entry *t)
{
	const struct perm_quantity *q = t->perm;
	double counting = counting_error(t->values);

	return counting > 0 &&
	       fabs(q->effect) <= boots_student(q->level > 0 ? q->level : NOISE_TAIL, fmax(2, q->df)) * counting;
}

/* The change that 19 of 20 such comparisons stay below if nothing has changed; in the quantity's own unit. */
static double compare_entry_noise(const struct compare_entry *t)
{
	double error = error_of_entry(t);

	if (error == 0)
		return 0;
	return t->perm->df < 2 ? INFINITY : compare_amount(t->values, boots_student(NOISE_TAIL, t->perm->df) * error);
}

/* Is a change of the size of the margin impossible to distinguish from noise? */
static bool compare_entry_is_noisy(const struct compare_entry *t)
{
	return !(compare_entry_noise(t) <= t->margin);
}

/* The smallest change that would have been detected with probability COMPARE_POWER. */
static double compare_entry_detectable(const struct compare_entry *t)
{
	const struct perm_quantity *q = t->perm;
	double error = error_of_entry(t);

	if (error == 0)
		return 0;
	if (q->df < 2 || q->level <= 0)
		return INFINITY;
	return compare_amount(t->values,
			      (boots_student(q->level, q->df) + boots_student(1 - COMPARE_POWER, q->df)) * error);
}

/* --- the verdict on a quantity --- */

/* What the interval may use of the margin: a true change may be larger than what is seen by a step. Nothing if the steps are as
 * coarse as the margin. */
static double room_of(const struct compare_entry *t)
{
	return t->margin - t->step;
}

/*
 * Alarms take all quantities into account together. Equivalence of a quantity is tested separately,
 * by two one-sided tests (Schuirmann 1987). Stating it for all quantities needs no correction for
 * their number, because each of them must pass. What differs, but is shown to do so by less than the
 * margin, is equivalent, too; where few units leave the joint interval without an end, the test of the
 * quantity alone shows it.
 */
static bool is_equivalent(const struct compare_entry *t)
{
	const struct perm_quantity *q = t->perm;
	bool differs = q->low > 0 || q->high < 0;
	double low = differs && isfinite(q->low) ? q->low : q->low_alone;
	double high = differs && isfinite(q->high) ? q->high : q->high_alone;

	return !compare_entry_is_noisy(t) && compare_amount(t->values, low) > -room_of(t) &&
	       compare_amount(t->values, high) < room_of(t);
}

/* --- drift --- */

/* So often a drift is seen that is none, to either side. Within short arms even one that makes all of an effect can hardly be
 * seen; so of one along the effect less is enough. */
#define DRIFT_TAIL 0.1
#define ALONG_TAIL 0.3

/* Means of the units of an arm that have a value. */
struct arm_means {
	double units, when, value;
};

static struct arm_means means_of_arm(const struct perm_plan *p, const double *value, size_t from, size_t to)
{
	struct arm_means m = {.units = 0};

	for (size_t u = from; u < to; u++)
		if (!isnan(value[u])) {
			m.units++;
			m.when += p->when[u];
			m.value += value[u];
		}
	m.when /= m.units;
	m.value /= m.units;
	return m;
}

/* One slope for both arms, each about its means: what is left of the effect without it has a large error, as it would be
 * between the arms. */
void compare_entry_find_drift(struct compare_entry *t, const struct perm_plan *p)
{
	const double *value = t->perm->value;
	const size_t n = p->base + p->with;
	struct arm_means arm[2];
	double xx = 0, xy = 0, yy = 0, df, slope, apart, variance;

	if (!p->one_after_other || !t->perm->known)
		return;
	arm[0] = means_of_arm(p, value, 0, p->base);
	arm[1] = means_of_arm(p, value, p->base, n);
	for (size_t u = 0; u < n; u++) {
		const struct arm_means *m = &arm[u >= p->base];
		const double x = p->when[u] - m->when, y = value[u] - m->value;

		if (isnan(value[u]))
			continue;
		xx += x * x;
		xy += x * y;
		yy += y * y;
	}
	df = arm[0].units + arm[1].units - 3;
	if (!(xx > 0) || df < 2)
		return;
	slope = xy / xx;
	apart = arm[1].when - arm[0].when;
	variance = fmax(yy - xy * slope, 0) / df;
	t->drift = slope * apart;
	t->rest_t = fabs(t->perm->effect - t->drift) /
		    sqrt(variance * (1 / arm[0].units + 1 / arm[1].units + apart * apart / xx) + 1e-300);
	t->drift_t = fabs(slope) / sqrt(variance / xx + 1e-300);
	t->drift_df = df;
}

bool compare_entry_is_by_drift(const struct compare_entry *t)
{
	const struct perm_quantity *q = t->perm;

	if (!(t->drift_df > 0))
		return false;
	if (is_equivalent(t))
		return t->drift_t > boots_student(DRIFT_TAIL, t->drift_df) &&
		       fabs(compare_amount(t->values, t->drift)) > t->margin / 2;
	if (q->low <= 0 && q->high >= 0)
		return false;
	return t->drift * q->effect > 0 && t->drift_t > boots_student(ALONG_TAIL, t->drift_df) &&
	       (fabs(t->drift) > fabs(q->effect) || t->rest_t < boots_student(NOISE_TAIL, t->drift_df));
}

enum compare_verdict compare_entry_verdict(const struct compare_entry *t)
{
	bool better = t->values->of.less_is_worse;
	const struct perm_quantity *q = t->perm;

	if (compare_entry_is_by_drift(t))
		return COMPARE_UNDECIDED;
	if (is_equivalent(t))
		return COMPARE_EQUIVALENT;
	if (is_by_counting(t) || is_within_step(t))
		return COMPARE_UNDECIDED;
	if (q->low > 0)
		return better ? COMPARE_IMPROVEMENT : COMPARE_REGRESSION;
	if (q->high < 0)
		return better ? COMPARE_REGRESSION : COMPARE_IMPROVEMENT;
	return COMPARE_UNDECIDED;
}

/* Is a change for the worse that is larger than the margin still possible? What is known of the values only in steps counts as
 * possible, so that nothing is called harmless that the clock, or the digits of imported samples, could not have shown. */
static bool compare_entry_may_be_worse(const struct compare_entry *t)
{
	if (compare_entry_is_by_drift(t) ||
	    (compare_entry_is_noisy(t) && compare_entry_verdict(t) != COMPARE_IMPROVEMENT))
		return true;
	if (t->values->of.less_is_worse)
		return !(compare_amount(t->values, t->perm->low_alone) > -room_of(t));
	return !(compare_amount(t->values, t->perm->high_alone) < room_of(t));
}

/* --- as a result --- */

static double finite_or_nan(double value)
{
	return isfinite(value) ? value : NAN;
}

/* An end of an interval, on the scale of the values. */
static struct comparison_amount interval_end(const struct compare_values *v, double end)
{
	return (struct comparison_amount){isfinite(end) ? finite_or_nan(compare_amount(v, end)) : NAN,
					  isfinite(end) ? finite_or_nan(100 * compare_share(v, end)) : NAN};
}

/* An amount in the quantity's own unit. */
static struct comparison_amount own_amount(const struct compare_values *v, double amount)
{
	return (struct comparison_amount){finite_or_nan(amount),
					  finite_or_nan(100 * amount / fabs(v->level[ARM_BASE]))};
}

struct comparison_quantity compare_entry_quantity(const struct compare_entry *t, const char *metric)
{
	const struct compare_values *v = t->values;
	const struct perm_quantity *q = t->perm;

	return (struct comparison_quantity){
	    .key = v->of.key,
	    .unit = compare_quantity_unit(&v->of, metric),
	    .verdict = compare_entry_verdict(t),
	    .may_be_worse = compare_entry_may_be_worse(t),
	    .noisy = compare_entry_is_noisy(t),
	    .decides = t->decides,
	    .less_is_worse = v->of.less_is_worse,
	    .level = {finite_or_nan(v->level[ARM_BASE]), finite_or_nan(v->level[ARM_WITH])},
	    .effect = interval_end(v, q->effect),
	    .low = interval_end(v, q->low),
	    .high = interval_end(v, q->high),
	    .low_alone = interval_end(v, q->low_alone),
	    .high_alone = interval_end(v, q->high_alone),
	    .p = finite_or_nan(q->p),
	    .p_alone = finite_or_nan(q->p_alone),
	    .margin = own_amount(v, t->margin),
	    .step = own_amount(v, t->step),
	    .noise = own_amount(v, compare_entry_noise(t)),
	    .detectable = own_amount(v, compare_entry_detectable(t)),
	};
}

/* --- the verdict on several quantities --- */

struct verdict_one compare_entry_one(const struct compare_entry *t)
{
	return (struct verdict_one){compare_entry_verdict(t), compare_entry_may_be_worse(t), compare_entry_is_noisy(t),
				    t->decides};
}

void compare_verdict_count(struct verdict_counts *t, struct verdict_one one)
{
	bool open = one.verdict == COMPARE_UNDECIDED && one.may_be_worse;

	t->count[one.verdict] += one.verdict != COMPARE_UNDECIDED || one.decides;
	*(one.decides ? &t->open : &t->shown) += open;
	t->noisy += one.decides && one.noisy;
}

void compare_verdict_count_missing(struct verdict_counts *t)
{
	compare_verdict_count(t, (struct verdict_one){COMPARE_UNDECIDED, .may_be_worse = true, .decides = true});
}

static bool nothing_counted(const struct verdict_counts *t)
{
	for (size_t v = 0; v < COMPARE_VERDICTS; v++)
		if (t->count[v])
			return false;
	return true;
}

enum compare_verdict compare_verdict_overall(const struct verdict_counts *t)
{
	bool worse = t->count[COMPARE_REGRESSION], better = t->count[COMPARE_IMPROVEMENT];

	if (worse || better)
		return worse && better ? COMPARE_MIXED : worse ? COMPARE_REGRESSION : COMPARE_IMPROVEMENT;
	return t->count[COMPARE_UNDECIDED] || nothing_counted(t) ? COMPARE_UNDECIDED : COMPARE_EQUIVALENT;
}

enum compare_outcome compare_verdict_outcome(const struct verdict_counts *t)
{
	enum compare_verdict overall = compare_verdict_overall(t);

	if (overall == COMPARE_REGRESSION || overall == COMPARE_MIXED)
		return OUTCOME_REGRESSION;
	return t->open || (t->noisy && t->shown) || nothing_counted(t) ? OUTCOME_UNDECIDED : OUTCOME_NONE;
}

enum status compare_verdict_status(enum compare_outcome outcome)
{
	static const enum status status[COMPARE_OUTCOMES] = {STATUS_NO, STATUS_OK, STATUS_UNDECIDED};

	return status[outcome];
}

/* --- how many units show an effect --- */

/* Hill, Algorithm 396 (CACM 13, 1970): expands t in terms of the normal quantile; the special case
 * for two degrees of freedom is exact. */
double boots_student(double tail, double df)
{
	double p = 2 * tail, a = 1 / (df - 0.5), b = 48 / (a * a);
	double c = ((20700 * a / b - 98) * a - 16) * a + 96.36;
	double d = ((94.5 / (b + c) - 3) / b + 1) * sqrt(a * M_PI_2) * df, x, y = pow(d * p, 2 / df);

	if (df <= 2)
		return sqrt(2 / (p * (2 - p)) - 2);
	if (y > 0.05 + a) {
		x = -stats_normal_quantile(tail);
		y = x * x;
		if (df < 5)
			c += 0.3 * (df - 4.5) * (x + 0.6);
		c += (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b;
		y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x;
		y = expm1(a * y * y);
	} else {
		y = ((1 / (((df + 6) / (df * y) - 0.089 * d - 0.822) * (df + 2) * 3) + 0.5 / (df + 4)) * y - 1) *
			(df + 1) / (df + 2) +
		    1 / y;
	}
	return sqrt(df * y);
}

size_t boots_needed(double effect, double stdev, double tail, double power, size_t least)
{
	size_t n = least < 2 ? 2 : least;

	for (; n < BOOTS_MOST; n++) {
		double error = stdev * sqrt(2 / (double)n);

		if (1 - stats_normal_tail(effect / error - boots_student(tail, 2 * (double)n - 2)) >= power)
			break;
	}
	return n;
}

/* --- of a comparison --- */

size_t compare_units_least(const struct compare_runs *runs)
{
	return runs->pairs ? COMPARE_PAIRS : COMPARE_UNITS;
}

/* The standard deviation between units. If no arm has two units, only the part caused by variation
 * between runs is known, which is smaller. */
static double stdev_of(const struct compare_join *j, const struct compare_values *v)
{
	double runs = (double)j->runs->count / (double)(j->runs->units[ARM_BASE] + j->runs->units[ARM_WITH]);

	return isnan(v->stdev_units) ? v->stdev_runs / sqrt(runs) : v->stdev_units;
}

/* As many units as have relabellings enough that the observed one can be among the rarest `level` of them. */
static size_t units_for_level(const struct compare_runs *runs, double level)
{
	size_t n = compare_units_least(runs);

	for (; n < BOOTS_MOST; n++) {
		const double k = (double)n; /* ln of C(2n, n), or of 2^n for pairs */

		if (level * exp(runs->pairs ? k * M_LN2 : lgamma(2 * k + 1) - 2 * lgamma(k + 1)) >= 1)
			break;
	}
	return n;
}

struct comparison_needed compare_needed(const struct compare_join *j, const struct compare_rule *rule)
{
	double side = rule->question == PERM_DIFFERS ? 0.5 : 1 - PERM_BETTER_SHARE;
	double level = MEDIAN_LEVEL * rule->alpha * side / (double)(j->count ? j->count : 1);
	const size_t least = units_for_level(j->runs, rule->alpha * side);
	struct comparison_needed needed = {.units = 0};

	for (size_t i = 0; i < j->count; i++) {
		/* For a series, the median. */
		const struct compare_values *v = j->point[i].quantity;
		double stdev, effect = log1p(rule->effect);
		size_t n;

		if (!j->point[i].quantity_count || !v->value || isnan(stdev = stdev_of(j, v)))
			continue;
		if (!v->logarithms) {
			stdev /= fabs(v->level[ARM_BASE]);
			effect = rule->effect;
		}
		n = boots_needed(effect, stdev, level, COMPARE_POWER, least);
		if (n <= needed.units)
			continue;
		needed = (struct comparison_needed){
		    .units = n,
		    .at_least = isnan(v->stdev_units) || n >= BOOTS_MOST,
		    .point = j->point[i].id,
		    .stdev_units_percent = isfinite(v->stdev_units) ? 100 * v->stdev_units : NAN,
		    .stdev_runs_percent = isfinite(v->stdev_runs) ? 100 * v->stdev_runs : NAN,
		};
	}
	return needed;
}
/* --- interim looks --- */

/* Position in the plan, and part of alpha. */
static const struct {
	double at, share;
} early[LOOKS_MOST - 1] = {{0.5, 0.3}, {0.75, 0.1}};

/* The first look must be able to detect something: with few units there are few relabellings. */
static size_t units_at(double at, size_t planned, size_t least, bool pairs, double level)
{
	size_t units = (size_t)(at * (double)planned + 0.999);

	units = units < least ? least : units;
	while (units < planned && perm_least_p(units, units, pairs) > level)
		units++;
	return units;
}

size_t compare_looks(size_t planned, size_t least, bool pairs, double alpha, struct look looks[LOOKS_MOST])
{
	size_t count = 0, last = 0;
	double left = alpha;

	for (size_t i = 0; i < LOOKS_MOST - 1; i++) {
		struct look one = {units_at(early[i].at, planned, least, pairs, early[i].share * alpha),
				   early[i].share * alpha};

		if (one.units <= last || one.units >= planned)
			continue;
		looks[count++] = one;
		last = one.units;
		left -= one.level;
	}
	looks[count++] = (struct look){planned, left};
	return count;
}
