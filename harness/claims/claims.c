#include "claims/claims.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "claims/claims_needs.h"
#include "claims/claims_work.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"

/* Only the first reason counts. */
void claim_give_up(struct claim_work *w, const char *format, ...)
{
	va_list ap;

	if (w->trouble)
		return;
	va_start(ap, format);
	if (vasprintf(&w->trouble, format, ap) < 0)
		abort();
	va_end(ap);
}

/* Case by case ------------------------------------------------------------------------------------------- */

/* Which side of a bound: outside as a whole, inside as a whole, or neither. */
static struct claim_verdict against_bounds(const struct claim_work *w, struct estimate e)
{
	const json_t *min = json_object_get(w->claim, "min"), *max = json_object_get(w->claim, "max");
	double least = json_is_number(min) ? json_number_value(min) : -INFINITY;
	double most = json_is_number(max) ? json_number_value(max) : INFINITY;
	struct claim_verdict v = {.word = CLAIM_HOLDS, .estimate = e, .has_estimate = true};
	char *measured = claim_estimate_text(w, &e, true), bound[64];

	claim_number_text(w, e.low < least ? least : most, bound, sizeof(bound));
	if (e.high < least || e.low > most) {
		v.word = CLAIM_FAILS;
		v.why = fs_path("%s is %s %s", measured, e.high < least ? "below" : "above", bound);
	} else if (e.low < least || e.high > most) {
		v.word = CLAIM_NOT_JUDGED;
		v.why = fs_path("too close to say: %s, and the bound is %s", measured, bound);
	}
	free(measured);
	return v;
}

static struct claim_verdict judge_pair(const struct claim_work *w, const struct sample *a, const struct sample *b)
{
	const char *relation = json_text(w->claim, "relation");

	if (!strcmp(relation, "value"))
		return against_bounds(w, estimate_value(a));
	if (!strcmp(relation, "difference"))
		return against_bounds(w, estimate_difference(a, b));
	if (strcmp(relation, "ratio"))
		return claim_not_judged(fs_path("this kblat does not know the relation '%s'", relation));
	if (b->value == 0)
		return claim_not_judged(fs_path("what it compares with is 0"));
	return against_bounds(w, estimate_ratio(a, b));
}

static json_t *number_or_null(bool there, double value)
{
	return there && isfinite(value) ? json_real(value) : json_null();
}

static void add_case(struct claim_work *w, const char *label, json_t *points, json_t *against, struct claim_verdict *v)
{
	char *measured = v->has_estimate ? claim_estimate_text(w, &v->estimate, true) : fs_path("%s", "");
	bool interval = v->has_estimate && v->estimate.has_interval;

	json_array_append_new(w->cases, json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:s}", "label", label,
						  "points", points, "against", against, "value",
						  number_or_null(v->has_estimate, v->estimate.value), "low",
						  number_or_null(interval, v->estimate.low), "high",
						  number_or_null(interval, v->estimate.high), "measured", measured,
						  "verdict", v->word, "why", v->why ? v->why : ""));
	free(measured);
	free(v->why);
}

static json_t *id_list(const json_t *point)
{
	json_t *ids = json_array();

	if (point)
		json_array_append(ids, json_object_get(point, "id"));
	return ids;
}

static void judge_point(struct claim_work *w, const json_t *point, const char *label)
{
	bool alone = !strcmp(json_text(w->claim, "relation"), "value");
	struct sample a = {0}, b = {0};
	char *why = NULL;
	const json_t *partner = alone ? NULL : claim_find_partner(w, point, &why);
	struct claim_verdict v;

	if (!why && claim_sample(point, w->points.metric, &a, &why) &&
	    (alone || claim_sample(partner, w->against.metric, &b, &why)))
		v = judge_pair(w, &a, &b);
	else
		v = claim_not_judged(why);
	add_case(w, label, id_list(point), id_list(partner), &v);
	claim_sample_free(&a);
	claim_sample_free(&b);
}

/* Does the case of this point stand before it already? Points of one course share a case. */
static bool is_first(const struct claim_work *w, size_t index)
{
	const json_t *point = json_array_get(w->points.points, index);

	for (size_t i = 0; i < index; i++)
		if (claim_agrees(w, json_array_get(w->points.points, i), point))
			return false;
	return true;
}

static void judge_along(struct claim_work *w, const json_t *point, const char *label)
{
	json_t *ids = json_array();
	struct claim_verdict v = claim_judge_course(w, point, ids);

	add_case(w, label, ids, json_array(), &v);
}

static void judge_cases(struct claim_work *w)
{
	const json_t *point;
	size_t i;

	claim_find_keys(w);
	json_array_foreach (w->points.points, i, point) {
		char *label = claim_label(w, point);

		if (!claim_is_order(w))
			judge_point(w, point, label);
		else if (is_first(w, i))
			judge_along(w, point, label);
		free(label);
	}
}

/* The claim as a whole ----------------------------------------------------------------------------------- */

static void add_devices(json_t *devices, const struct claim_run *run, const json_t *points)
{
	const json_t *point;
	size_t i;
	char id[32];

	if (!run)
		return;
	json_array_foreach (points, i, point) {
		snprintf(id, sizeof(id), "%" JSON_INTEGER_FORMAT, claim_point_id(point));
		json_array_extend(devices, json_object_get(run->devices, id));
	}
}

/* Both runs must be of the kind; they are of the same machine. */
static void check_needs(struct claim_work *w)
{
	json_t *devices = json_array();
	const struct claim_run *run = w->points.run;
	struct claim_machine machine = {run->run, {run->state[0], run->state[1]}, devices};
	char why[256];

	add_devices(devices, run, w->points.points);
	add_devices(devices, w->against.run, w->against.points);
	if (!claim_needs_met(json_object_get(w->claim, "needs"), &machine, why, sizeof(why)))
		claim_give_up(w, "%s", why);
	json_decref(devices);
}

static size_t count_cases(const struct claim_work *w, const char *verdict, const json_t **first)
{
	const json_t *one;
	size_t i, count = 0;

	json_array_foreach (w->cases, i, one) {
		if (strcmp(json_text(one, "verdict"), verdict))
			continue;
		*first = count++ ? *first : one;
	}
	return count;
}

/* "rc: 0.62 is above 0.5 (and 1 case more)" */
static char *say_why(const json_t *first, size_t count)
{
	const char *label = json_text(first, "label");
	char more[64] = "";

	if (count > 1)
		snprintf(more, sizeof(more), " (and %zu case%s more)", count - 1, count == 2 ? "" : "s");
	return fs_path("%s%s%s%s", label, *label ? ": " : "", json_text(first, "why"), more);
}

/* One failing case decides; then one that can't be judged. */
static const char *conclude(const struct claim_work *w, char **why)
{
	const json_t *first = NULL;
	size_t count = count_cases(w, CLAIM_FAILS, &first);
	const char *word = count ? CLAIM_FAILS : CLAIM_NOT_JUDGED;

	if (!count)
		count = count_cases(w, CLAIM_NOT_JUDGED, &first);
	if (count) {
		*why = say_why(first, count);
		return word;
	}
	*why = fs_path("%s", "");
	return CLAIM_HOLDS;
}

/* What was measured stays to be seen even if nothing can be concluded from it. */
static void withdraw(struct claim_work *w)
{
	json_t *one;
	size_t i;

	json_array_foreach (w->cases, i, one) {
		json_object_set_new(one, "verdict", json_string(CLAIM_NOT_JUDGED));
		json_object_set_new(one, "why", json_string(w->trouble));
	}
}

static json_t *result(struct claim_work *w)
{
	char *why = NULL, *measured = claim_measured_text(w), *wanted = claim_wanted_text(w);
	const char *verdict = w->trouble ? CLAIM_NOT_JUDGED : conclude(w, &why);
	json_t *j;

	if (w->trouble)
		withdraw(w);
	j = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:O}", "experiment",
		      json_text(w->points.run->resolved, "name"), "id", json_text(w->claim, "id"), "claim",
		      json_text(w->claim, "claim"), "source", json_text(w->claim, "source"), "measured_by_source",
		      json_text(w->claim, "measured_by_source"), "metric", w->points.metric, "wanted", wanted,
		      "measured", measured, "verdict", verdict, "why", w->trouble ? w->trouble : why, "cases",
		      w->cases);
	free(measured);
	free(wanted);
	free(why);
	return or_abort(j);
}

static json_t *judge(const struct claim_run *runs, size_t count, const struct claim_run *run, const json_t *claim)
{
	struct claim_work w = {.runs = runs, .count = count, .claim = claim, .cases = json_array()};
	json_t *verdict;

	w.points = (struct claim_side){
	    .run = run, .metric = json_text(claim, "metric"), .conditions = json_object_get(claim, "points")};
	claim_select_points(&w.points);
	if (!json_array_size(w.points.points))
		claim_give_up(&w, "no point of the run is what it is about");
	claim_select_against(&w);
	if (!w.trouble) {
		judge_cases(&w);
		check_needs(&w);
	}
	verdict = result(&w);
	json_decref(w.points.points);
	json_decref(w.against.points);
	json_decref(w.by);
	json_decref(w.cases);
	free(w.trouble);
	return verdict;
}

json_t *claims_judge(const struct claim_run *runs, size_t count)
{
	json_t *all = json_array();

	for (size_t i = 0; i < count; i++) {
		const json_t *claim;
		size_t k;

		json_array_foreach (json_object_get(runs[i].resolved, "claims"), k, claim)
			json_array_append_new(all, judge(runs, count, &runs[i], claim));
	}
	return json_pack("{s:i, s:o}", "schema", 1, "claims", all);
}

bool claims_are_made(const json_t *resolved)
{
	return json_array_size(json_object_get(resolved, "claims")) > 0;
}

size_t claims_count(const json_t *verdicts, const char *verdict)
{
	const json_t *claim;
	size_t i, count = 0;

	json_array_foreach (json_object_get(verdicts, "claims"), i, claim)
		count += !strcmp(json_text(claim, "verdict"), verdict);
	return count;
}

enum status claims_status(const json_t *verdicts)
{
	if (claims_count(verdicts, CLAIM_FAILS))
		return STATUS_NO;
	return claims_count(verdicts, CLAIM_HOLDS) ? STATUS_OK : STATUS_UNDECIDED;
}
