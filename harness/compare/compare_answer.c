#include "compare/compare_answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/units.h"
#include "compare/compare_boots.h"
#include "compare/compare_judge.h"

enum status compare_status(const json_t *result)
{
	const char *verdict = json_text(result, "verdict");

	return !strcmp(verdict, "regression")	   ? STATUS_NO
	       : !strcmp(verdict, "no regression") ? STATUS_OK
						   : STATUS_UNDECIDED;
}

/* For each verdict: the number of quantities, and the one with the largest (possible) change. */
struct tally {
	size_t count;
	const json_t *point, *worst;
	double most;
};

static void note_verdict(struct tally *t, const json_t *point, const json_t *quantity, double much)
{
	t->count++;
	if (t->worst && !(much > t->most))
		return;
	t->most = much;
	t->worst = quantity;
	t->point = point;
}

struct tallies {
	struct tally regression, improvement, equivalent, undecided;
	size_t all;
};

static void answer_count(const json_t *result, struct tallies *all)
{
	const json_t *point, *q;
	size_t i, k;

	json_array_foreach (json_object_get(result, "points"), i, point) {
		json_array_foreach (json_object_get(point, "quantities"), k, q) {
			const char *verdict = json_text(q, "verdict");
			double margin = json_number_or_nan(q, "margin");

			all->all++;
			if (!strcmp(verdict, "regression"))
				note_verdict(&all->regression, point, q,
					     fabs(json_number_or_nan(q, "effect") / margin));
			else if (!strcmp(verdict, "improvement"))
				note_verdict(&all->improvement, point, q,
					     fabs(json_number_or_nan(q, "effect") / margin));
			else if (!strcmp(verdict, "equivalent"))
				note_verdict(&all->equivalent, point, q, margin);
			else if (json_is_true(json_object_get(q, "may_be_worse")))
				note_verdict(&all->undecided, point, q,
					     json_is_number(json_object_get(q, "high_alone"))
						 ? json_number_or_nan(q, "high_alone") / margin
						 : INFINITY);
		}
	}
}

/* "p50 of point 3 (rc, 32B)", or "p50" if there is one point. */
static char *where_text(const json_t *result, const json_t *point, const json_t *quantity)
{
	if (json_array_size(json_object_get(result, "points")) == 1)
		return fs_path("%s", compare_quantity_label(json_text(quantity, "quantity")));
	return fs_path("%s of point %" JSON_INTEGER_FORMAT " (%s)",
		       compare_quantity_label(json_text(quantity, "quantity")),
		       json_integer_value(json_object_get(point, "id")), json_text(point, "label"));
}

double compare_confidence(const json_t *result)
{
	return 100 - 100 * json_number_or_nan(result, "alpha");
}

/* "95 % interval +1.0 to +3.8 %"; with few boots it may only have one end. */
static char *interval_text(const json_t *result, double low, double high, const char *format, const char *unit)
{
	double confidence = compare_confidence(result);
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
static char *effect_text(const json_t *result, const json_t *q)
{
	bool share = !strcmp(json_text(q, "unit"), "share");
	char *interval, *text;
	double effect;

	if (share) {
		interval = interval_text(result, 100 * json_number_or_nan(q, "low"),
					 100 * json_number_or_nan(q, "high"), "%+.3g", "");
		text = fs_path("%+.3g percentage points, %s", 100 * json_number_or_nan(q, "effect"), interval);
	} else {
		interval = interval_text(result, json_number_or_nan(q, "low_percent"),
					 json_number_or_nan(q, "high_percent"), "%+.2f", " %");
		effect = json_number_or_nan(q, "effect");
		text = fs_path(fabs(effect) < 999.5 ? "%+.2f %% (%+.3g %s), %s" : "%+.2f %% (%+.0f %s), %s",
			       json_number_or_nan(q, "effect_percent"), effect, json_text(q, "unit"), interval);
	}
	free(interval);
	return text;
}

static int units_of(const json_t *result, const char *arm)
{
	return (int)json_integer_value(json_object_get(json_object_get(result, arm), "units"));
}

/* "NEW (6.1.0-56-amd64, 24 runs of 8 boots)", so that the sentence can be understood on its own. */
static char *arm_text(const json_t *result, const char *title, const char *key)
{
	const json_t *arm = json_object_get(result, key), *kernels = json_object_get(arm, "kernels");
	const char *kernel = json_string_value(json_array_get(kernels, 0));
	json_int_t runs = json_integer_value(json_object_get(arm, "runs"));
	bool boots = !strcmp(json_text(result, "unit"), "boot");
	char of_boots[48] = "";

	if (boots)
		snprintf(of_boots, sizeof(of_boots), " of %d boot%s", units_of(result, key),
			 units_of(result, key) == 1 ? "" : "s");
	return fs_path("%s (%s%s, %" JSON_INTEGER_FORMAT " run%s%s)", title, kernel ? kernel : "",
		       json_array_size(kernels) > 1 ? " and others" : "", runs, runs == 1 ? "" : "s", of_boots);
}

/* `says`: "is slower than"; `rest` is freed. */
static char *sentence_of(const json_t *result, const char *says, char *rest)
{
	char *base = arm_text(result, "BASE", "base"), *with = arm_text(result, "NEW", "with");
	char *text = fs_path("%s: %s %s %s%s", json_text(result, "experiment"), with, says, base, rest);

	free(base);
	free(with);
	free(rest);
	return text;
}

static char *found_text(const json_t *result, const struct tallies *all, const struct tally *t)
{
	char *where = where_text(result, t->point, t->worst), *effect = effect_text(result, t->worst);
	char *text = fs_path(" in %zu of %zu quantities, most in %s: %s", t->count, all->all, where, effect);

	free(where);
	free(effect);
	return text;
}

/* The quantity that the number of units refers to: the first one of the points' metric. */
static const char *needed_for(const json_t *result)
{
	const json_t *point = json_array_get(json_object_get(result, "points"), 0);
	size_t count;
	struct compare_quantity *list = compare_quantity_list(json_text(point, "metric"), &count);
	const char *label = list[0].label;

	free(list);
	return label;
}

static char *needed_text(const json_t *result)
{
	const json_t *needed = json_object_get(result, "needed");
	double units = json_number_or_nan(needed, "units"), percent = json_number_or_nan(result, "effect_percent");
	const char *unit = json_text(result, "unit"),
		   *what = json_is_true(json_object_get(result, "pairs")) ? "pair" : unit;
	const char *in_each_arm = json_is_true(json_object_get(result, "pairs")) ? "" : " in each arm";
	bool known = json_is_number(json_object_get(needed, "stdev_units_percent"));

	if (!json_is_object(needed))
		return fs_path("how many %ss would show a change of %.3g %% cannot be estimated from these runs: "
			       "measure at least two runs in each of at least two %ss",
			       unit, percent, unit);
	if (units >= BOOTS_MOST)
		return fs_path(
		    "with the variation found here, it would take over %d %ss%s to show a change of %.3g %% of %s",
		    BOOTS_MOST, what, in_each_arm, percent, needed_for(result));
	return fs_path("%s %.0f %ss%s would show a change of %.3g %% of %s with a probability of %.0f %%; %ss%s vary "
		       "by %.2g %% here",
		       known ? "about" : "at least", units, what, in_each_arm, percent, needed_for(result),
		       100 * COMPARE_POWER, known ? unit : "run", known ? "" : " of one boot",
		       json_number_or_nan(needed, known ? "stdev_units_percent" : "stdev_runs_percent"));
}

/* For the time between two looks, when there is no verdict. */
static char *next_look_text(const json_t *result)
{
	const json_t *look = json_object_get(result, "look");

	return fs_path(
	    "%d %ss of BASE and %d of NEW, of %lld planned in each arm; the next look is at %lld, and there is "
	    "no verdict before it",
	    units_of(result, "base"), json_text(result, "unit"), units_of(result, "with"),
	    (long long)json_integer_value(json_object_get(look, "planned")),
	    (long long)json_integer_value(json_object_get(look, "next")));
}

static char *too_few_text(const json_t *result)
{
	bool pairs = json_is_true(json_object_get(result, "pairs"));
	int base = units_of(result, "base"), with = units_of(result, "with");
	char *needed = needed_text(result), *text;

	text = fs_path("%d %s%s of BASE and %d of NEW; there is no verdict with fewer than %d %s; %s", base,
		       json_text(result, "unit"), base == 1 ? "" : "s", with, pairs ? COMPARE_PAIRS : COMPARE_UNITS,
		       pairs ? "pairs" : "in each arm", needed);
	free(needed);
	return text;
}

/* "p99 by up to 7.2 %": the largest possible change among undecided quantities. */
static char *worst_text(const json_t *result, const struct tally *t)
{
	char *where = where_text(result, t->point, t->worst), *text;
	bool share = !strcmp(json_text(t->worst, "unit"), "share");
	char number[24];
	double high = json_number_or_nan(t->worst, share ? "high_alone" : "high_alone_percent");

	if (isnan(high))
		text = fs_path("%s by any amount", where);
	else if (share)
		text = fs_path("%s by up to %.3g percentage points", where, 100 * high);
	else
		text = fs_path("%s by up to %s %%", where, compare_quantity_rounded(high, number, sizeof(number)));
	free(where);
	return text;
}

/* " (without any change it differs by up to 3.1 %; a change must be at least 5.2 % to be found)": the noise. */
static char *seen_text(const json_t *quantity)
{
	bool share = !strcmp(json_text(quantity, "unit"), "share");
	double scale = share ? 100 : 1, noise, seen;
	char less[24], more[24];
	const char *unit = share ? "percentage points" : "%";

	if (!json_is_true(json_object_get(quantity, "noisy")))
		return fs_path("%s", "");
	noise = scale * json_number_or_nan(quantity, share ? "noise" : "noise_percent");
	seen = scale * json_number_or_nan(quantity, share ? "detectable" : "detectable_percent");
	if (isnan(seen) || isnan(noise))
		return fs_path(" (however large a change of it is, it would not be found)");
	return fs_path(" (without any change it differs by up to %s %s; a change must be at least %s %s to be found)",
		       compare_quantity_rounded(noise, less, sizeof(less)), unit,
		       compare_quantity_rounded(seen, more, sizeof(more)), unit);
}

static char *undecided_text(const json_t *result, const struct tallies *all)
{
	const struct tally *t = &all->undecided;
	char *worst, *seen, *needed, *text;

	if (!t->count)
		return fs_path("no quantity could be compared");
	worst = worst_text(result, t);
	seen = seen_text(t->worst);
	needed = needed_text(result);
	text = fs_path(": no quantity is shown to be slower, but %zu of %zu may be, by more than their margins, above "
		       "all %s%s; %s",
		       t->count, all->all, worst, seen, needed);
	free(worst);
	free(seen);
	free(needed);
	return sentence_of(result, "may or may not be slower than", text);
}

static bool is_too_few(const json_t *result)
{
	return !json_is_object(json_object_get(result, "relabellings"));
}

void compare_answer(json_t *result)
{
	struct tallies all = {.all = 0};
	const char *verdict = "undecided";
	char *text;

	answer_count(result, &all);
	if (is_too_few(result)) {
		text = json_number_or_nan(result, "alpha") > 0 ? too_few_text(result) : next_look_text(result);
	} else if (all.regression.count) {
		verdict = "regression";
		text = sentence_of(result, "is slower than", found_text(result, &all, &all.regression));
	} else if (all.undecided.count || !all.all) {
		text = undecided_text(result, &all);
	} else if (all.improvement.count) {
		verdict = "no regression";
		text = sentence_of(result, "is faster than", found_text(result, &all, &all.improvement));
	} else {
		verdict = "no regression";
		text = sentence_of(
		    result, "is not slower than",
		    all.all == 1
			? fs_path(": any increase is smaller than the margin")
			: fs_path(": in all %zu quantities, any increase is smaller than the margin", all.all));
	}
	json_object_set_new(result, "verdict", json_string(verdict));
	json_object_set_new(result, "answer", json_string(text));
	free(text);
}
