#include "judge/compare/compare_judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "judge/compare/compare_point.h"
#include "judge/compare/compare_verdict.h"

/* For each verdict: the number of quantities, and the one with the largest (possible) change. */
struct noted {
	size_t count;
	const struct comparison_point *point;
	const struct comparison_quantity *worst;
	double most;
};

static void note_verdict(struct noted *t, const struct comparison_point *point,
			 const struct comparison_quantity *quantity, double much)
{
	t->count++;
	if (t->worst && !(much > t->most))
		return;
	t->most = much;
	t->worst = quantity;
	t->point = point;
}

struct all_noted {
	struct noted regression, improvement;
	struct noted open, shown; /* undecided, and may be worse; shown: those that do not decide */
	struct verdict_counts verdicts;
	const struct comparison_missing *missing; /* decides, but was not compared; NULL: none is */
	const struct comparison_point *missing_at;
	size_t all, deciding;
};

/* How much worse it may have become, however little is known: the end of the interval in that direction, and what cannot be
 * told apart. */
static double worse_end(const struct comparison_quantity *q)
{
	double end = q->less_is_worse ? -comparison_shown(q, &q->low_alone) : comparison_shown(q, &q->high_alone);

	return isnan(end) ? INFINITY : end + comparison_shown(q, &q->step);
}

static void count_quantity(struct all_noted *all, const struct comparison_point *point,
			   const struct comparison_quantity *q)
{
	double margin = q->margin.own;

	all->all++;
	all->deciding += q->decides;
	compare_verdict_count(&all->verdicts, (struct verdict_one){q->verdict, q->may_be_worse, q->noisy, q->decides});
	if (q->verdict == COMPARE_REGRESSION)
		note_verdict(&all->regression, point, q, fabs(q->effect.own / margin));
	else if (q->verdict == COMPARE_IMPROVEMENT)
		note_verdict(&all->improvement, point, q, fabs(q->effect.own / margin));
	else if (q->verdict == COMPARE_UNDECIDED && q->may_be_worse)
		note_verdict(q->decides ? &all->open : &all->shown, point, q,
			     worse_end(q) / comparison_shown(q, &q->margin));
}

static void answer_count(const struct comparison *c, struct all_noted *all)
{
	for (const struct comparison_point *p = c->points; p < c->points + c->point_count; p++) {
		for (size_t k = 0; k < p->quantity_count; k++)
			count_quantity(all, p, &p->quantities[k]);
		for (size_t k = 0; k < p->missing_count; k++)
			if (p->missing[k].decides) {
				compare_verdict_count_missing(&all->verdicts);
				all->missing = &p->missing[k];
				all->missing_at = p;
			}
	}
}

/* --- what was resolved, and what could be hidden --- */

/* A quantity in all points. */
struct resolution {
	const char *key, *unit;
	size_t points, open;   /* in which it may have become worse by more than the margin */
	double margin, hidden; /* the largest of them, as they are shown */
};

/* Nothing is known to be smaller than the noise. */
static double hidden_by(const struct comparison_quantity *q)
{
	double noise = comparison_shown(q, &q->noise);

	return fmax(worse_end(q), isnan(noise) ? INFINITY : noise);
}

static struct resolution *resolution_of(struct resolution *list, size_t *count, const struct comparison_quantity *q)
{
	size_t i = 0;

	while (i < *count && strcmp(list[i].key, q->key) != 0)
		i++;
	if (i == *count)
		list[(*count)++] = (struct resolution){
		    .key = q->key, .unit = comparison_is_share(q) ? "percentage points" : "%", .hidden = 0};
	return &list[i];
}

static struct resolution *resolutions_of(const struct comparison *c, size_t *count)
{
	struct resolution *list;
	size_t most = 0;

	*count = 0;
	for (size_t i = 0; i < c->point_count; i++)
		most += c->points[i].quantity_count;
	list = or_abort(calloc(most + 1, sizeof(*list)));
	for (const struct comparison_point *p = c->points; p < c->points + c->point_count; p++)
		for (size_t k = 0; k < p->quantity_count; k++) {
			const struct comparison_quantity *q = &p->quantities[k];
			struct resolution *r = resolution_of(list, count, q);

			if (q->verdict == COMPARE_REGRESSION)
				continue;
			r->points++;
			r->margin = fmax(r->margin, comparison_shown(q, &q->margin));
			if (q->may_be_worse) {
				r->open++;
				r->hidden = fmax(r->hidden, hidden_by(q));
			}
		}
	return list;
}

/* "p50, p90 within 2 %, p99 within 5 %". */
static size_t put_resolved(FILE *out, const struct resolution *list, size_t count)
{
	char last[24] = "", number[24];
	const char *last_unit = "";
	size_t said = 0;

	for (const struct resolution *r = list; r < list + count; r++) {
		if (!r->points || r->open)
			continue;
		compare_quantity_rounded(r->margin, number, sizeof(number));
		if (said && (strcmp(last, number) != 0 || strcmp(last_unit, r->unit) != 0))
			fprintf(out, " within %s %s", last, last_unit);
		fprintf(out, "%s%s", said++ ? ", " : "", compare_quantity_label(r->key));
		memcpy(last, number, sizeof(last));
		last_unit = r->unit;
	}
	if (said)
		fprintf(out, " within %s %s", last, last_unit);
	return said;
}

/* "p99.9 could hide 7 %". */
static void put_hidden(FILE *out, const struct resolution *r)
{
	char number[24];

	fprintf(out, "%s could hide ", compare_quantity_label(r->key));
	if (isinf(r->hidden))
		fputs("any change", out);
	else
		fprintf(out, "%s %s", compare_quantity_rounded(r->hidden, number, sizeof(number)), r->unit);
	if (r->open < r->points)
		fprintf(out, " (in %zu of %zu points)", r->open, r->points);
}

/* "p50, p90 within 2 %, p99 within 5 %; p99.9 could hide 7 %", after `before` unless there is nothing to say. The caller
 * frees. */
static char *resolved_text(const struct comparison *c, const char *before)
{
	char *text;
	size_t size, count, said;
	struct resolution *list = resolutions_of(c, &count);
	FILE *out = or_abort(open_memstream(&text, &size));

	fputs(before, out);
	said = put_resolved(out, list, count);
	for (const struct resolution *r = list; r < list + count; r++)
		if (r->open) {
			fputs(said++ ? "; " : "", out);
			put_hidden(out, r);
		}
	if (!said) {
		rewind(out);
		fputc('\0', out);
	}
	fclose(out);
	free(list);
	return or_abort(text);
}

/* --- the sentence --- */

/* "p50 of point 3 (rc, 32B)", or "p50" if there is one point. */
static char *where_text(const struct comparison *c, const struct noted *t)
{
	if (c->point_count == 1)
		return fs_path("%s", compare_quantity_label(t->worst->key));
	return fs_path("%s of point %" JSON_INTEGER_FORMAT " (%s)", compare_quantity_label(t->worst->key), t->point->id,
		       text_shown(t->point->label));
}

/* "95 % interval +1.0 to +3.8 %"; with few boots it may only have one end. */
static char *interval_text(const struct comparison *c, double low, double high, const char *format, const char *unit)
{
	double confidence = comparison_confidence(c);
	char from[32], to[32];

	snprintf(from, sizeof(from), format, low);
	snprintf(to, sizeof(to), format, high);
	if (isnan(low))
		return fs_path("%.3g %% interval up to %s%s", confidence, to, unit);
	if (isnan(high))
		return fs_path("%.3g %% interval from %s%s up", confidence, from, unit);
	return fs_path("%.3g %% interval %s to %s%s", confidence, from, to, unit);
}

/* "+2.4 % (+29 ns), 95 % interval +1.0 to +3.8 %". */
static char *effect_text(const struct comparison *c, const struct comparison_quantity *q)
{
	double low = comparison_shown(q, &q->low), high = comparison_shown(q, &q->high), effect = q->effect.own;
	char *interval, *text;

	if (comparison_is_share(q)) {
		interval = interval_text(c, low, high, "%+.3g", "");
		text = fs_path("%+.3g percentage points, %s", 100 * effect, interval);
	} else {
		interval = interval_text(c, low, high, "%+.2f", " %");
		text = fs_path(fabs(effect) < 999.5 ? "%+.2f %% (%+.3g %s), %s" : "%+.2f %% (%+.0f %s), %s",
			       q->effect.percent, effect, q->unit, interval);
	}
	free(interval);
	return text;
}

/* "NEW (6.1.0-56-amd64, 24 runs of 8 boots)", so that the sentence can be understood on its own. */
static char *arm_text(const struct comparison *c, enum compare_arm which)
{
	const struct comparison_arm *arm = &c->arm[which];
	const char *kernel = comparison_kernel(c, which);
	char of_boots[48] = "";

	if (c->kind == UNIT_BOOT)
		snprintf(of_boots, sizeof(of_boots), " of %zu boot%s", arm->units, arm->units == 1 ? "" : "s");
	return fs_path("%s (%s%s, %zu run%s%s)", compare_arm_name[which], kernel ? text_named(kernel) : "",
		       json_array_size(arm->kernels) > 1 ? " and others" : "", arm->runs, arm->runs == 1 ? "" : "s",
		       of_boots);
}

/* `says`: "is slower than"; `rest` is freed. */
static char *sentence_of(const struct comparison *c, const char *says, char *rest)
{
	char *base = arm_text(c, ARM_BASE), *with = arm_text(c, ARM_WITH);
	char *text = fs_path("%s: %s %s %s%s", text_named(c->experiment), with, says, base, rest);

	free(base);
	free(with);
	free(rest);
	return text;
}

static char *found_text(const struct comparison *c, const struct all_noted *all, const struct noted *t)
{
	char *where = where_text(c, t), *effect = effect_text(c, t->worst);
	char *text = fs_path(" in %zu of %zu quantities, most in %s: %s", t->count, all->all, where, effect);

	free(where);
	free(effect);
	return text;
}

/* The quantity that the number of units refers to: the first one of the points' metric. */
static const char *needed_for(const struct comparison *c)
{
	size_t count;
	struct compare_quantity *list = compare_quantity_list(c->point_count ? c->points[0].metric : "", &count);
	const char *label = list[0].label;

	free(list);
	return label;
}

static char *needed_text(const struct comparison *c)
{
	const struct comparison_needed *needed = &c->needed;
	double percent = 100 * c->effect;
	const char *unit = compare_unit_name[c->kind], *what = c->pairs ? "pair" : unit;
	const char *in_each_arm = c->pairs ? "" : " in each arm";
	bool known = !isnan(needed->stdev_units_percent);

	if (!needed->units)
		return fs_path("how many %ss would show a change of %.3g %% cannot be estimated from these runs: "
			       "measure at least two runs in each of at least two %ss",
			       unit, percent, unit);
	if (needed->units >= BOOTS_MOST)
		return fs_path(
		    "with the variation found here, it would take over %d %ss%s to show a change of %.3g %% of %s",
		    BOOTS_MOST, what, in_each_arm, percent, needed_for(c));
	return fs_path("%s %zu %ss%s would show a change of %.3g %% of %s with a probability of %.0f %%; %ss%s vary "
		       "by %.2g %% here",
		       known ? "about" : "at least", needed->units, what, in_each_arm, percent, needed_for(c),
		       100 * COMPARE_POWER, known ? unit : "run", known ? "" : " of one boot",
		       known ? needed->stdev_units_percent : needed->stdev_runs_percent);
}

/* For the time between two looks, when there is no verdict. */
static char *next_look_text(const struct comparison *c)
{
	return fs_path("%zu %ss of BASE and %zu of NEW, of %zu planned in each arm; the next look is at %zu, and there "
		       "is no verdict before it",
		       c->arm[ARM_BASE].units, compare_unit_name[c->kind], c->arm[ARM_WITH].units, c->planned,
		       c->next_look);
}

static char *too_few_text(const struct comparison *c)
{
	size_t base = c->arm[ARM_BASE].units;
	char *needed = needed_text(c), *text;

	text = fs_path("%zu %s%s of BASE and %zu of NEW; there is no verdict with fewer than %d %s; %s", base,
		       compare_unit_name[c->kind], base == 1 ? "" : "s", c->arm[ARM_WITH].units,
		       c->pairs ? COMPARE_PAIRS : COMPARE_UNITS, c->pairs ? "pairs" : "in each arm", needed);
	free(needed);
	return text;
}

/* "p99 by up to 7.2 %": the largest possible change among undecided quantities. */
static char *worst_text(const struct comparison *c, const struct noted *t)
{
	char *where = where_text(c, t), *text;
	char number[24];
	double high = worse_end(t->worst);

	if (isinf(high))
		text = fs_path("%s by any amount", where);
	else if (comparison_is_share(t->worst))
		text = fs_path("%s by up to %.3g percentage points", where, high);
	else
		text = fs_path("%s by up to %s %%", where, compare_quantity_rounded(high, number, sizeof(number)));
	free(where);
	return text;
}

/* " (without any change it differs by up to 3.1 %; a change must be at least 5.2 % to be found)": the noise. Or that the steps
 * in which the values are known are too coarse. */
static char *seen_text(const struct comparison_quantity *q)
{
	const char *unit = comparison_is_share(q) ? "percentage points" : "%";
	double noise = comparison_shown(q, &q->noise), seen = comparison_shown(q, &q->detectable);
	char less[24], more[24];

	if (q->step.own >= q->margin.own)
		return fs_path(
		    " (its values are known in steps of %.3g %s, %s %%, which is not less than the margin of %s "
		    "%%; --margin sets another)",
		    q->step.own, q->unit, compare_quantity_rounded(q->step.percent, less, sizeof(less)),
		    compare_quantity_rounded(q->margin.percent, more, sizeof(more)));
	if (!q->noisy)
		return fs_path("%s", "");
	if (isnan(seen) || isnan(noise))
		return fs_path(" (however large a change of it is, it would not be found)");
	return fs_path(" (without any change it differs by up to %s %s; a change must be at least %s %s to be found)",
		       compare_quantity_rounded(noise, less, sizeof(less)), unit,
		       compare_quantity_rounded(seen, more, sizeof(more)), unit);
}

/* One that decides, but of which there is no result. */
static char *missing_text(const struct comparison *c, const struct all_noted *all)
{
	return sentence_of(c, "may or may not be slower than",
			   fs_path(": %s decides, but was not compared at point %" JSON_INTEGER_FORMAT ": %s",
				   compare_quantity_label(all->missing->key), all->missing_at->id, all->missing->why));
}

static char *undecided_text(const struct comparison *c, const struct all_noted *all)
{
	const struct noted *t = all->open.count ? &all->open : &all->shown;
	const char *whose = all->open.count ? " that decide" : " (all decide, as noise exceeds margins)";
	char *worst, *seen, *needed, *resolved, *text;

	if (all->missing && !all->open.count)
		return missing_text(c, all);
	if (!t->count)
		return fs_path("no quantity could be compared");
	worst = worst_text(c, t);
	seen = seen_text(t->worst);
	needed = needed_text(c);
	resolved = resolved_text(c, "; so far ");
	text =
	    fs_path(": no quantity is shown to be slower, but %zu of %zu%s may be, by more than their margins, above "
		    "all %s%s%s; %s",
		    t->count, all->open.count ? all->deciding : all->all, whose, worst, seen, resolved, needed);
	free(worst);
	free(seen);
	free(needed);
	free(resolved);
	return sentence_of(c, "may or may not be slower than", text);
}

static char *not_slower_text(const struct comparison *c, const struct all_noted *all)
{
	char *resolved = resolved_text(c, all->improvement.count ? "; " : ": "), *found, *text;

	if (!all->improvement.count)
		return sentence_of(c, "is not slower than", resolved);
	found = found_text(c, all, &all->improvement);
	text = fs_path("%s%s", found, resolved);
	free(found);
	free(resolved);
	return sentence_of(c, "is faster than", text);
}

static char *slower_text(const struct comparison *c, const struct all_noted *all)
{
	char *found = found_text(c, all, &all->regression), *resolved = resolved_text(c, "; otherwise ");
	char *text = fs_path("%s%s", found, resolved);

	free(found);
	free(resolved);
	return sentence_of(c, "is slower than", text);
}

void compare_answer(struct comparison *c)
{
	struct all_noted all = {.all = 0};

	answer_count(c, &all);
	c->verdict = compare_verdict_outcome(&all.verdicts);
	if (!c->judged)
		c->answer = c->alpha > 0 ? too_few_text(c) : next_look_text(c);
	else if (c->verdict == OUTCOME_REGRESSION)
		c->answer = slower_text(c, &all);
	else
		c->answer = c->verdict == OUTCOME_UNDECIDED ? undecided_text(c, &all) : not_slower_text(c, &all);
}
