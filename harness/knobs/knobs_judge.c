#include "knobs/knobs_judge.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "compare/compare_judge.h"
#include "compare/compare_units.h"
#include "knobs/knobs_joint.h"
#include "knobs/knobs_pair.h"

/* --- one comparison --- */

/* The overall verdict; if one quantity is better and another one worse, it is "mixed". */
static const char *verdict_of(const json_t *points)
{
	size_t counts[COMPARE_VERDICTS] = {0}, i, q;
	const json_t *point, *quantity;

	json_array_foreach (points, i, point)
		json_array_foreach (json_object_get(point, "quantities"), q, quantity)
			for (size_t v = 0; v < COMPARE_VERDICTS; v++)
				counts[v] += !strcmp(json_text(quantity, "verdict"), compare_verdicts[v]);
	if (counts[COMPARE_REGRESSION] && counts[COMPARE_IMPROVEMENT])
		return "mixed";
	for (size_t v = COMPARE_REGRESSION; v <= COMPARE_IMPROVEMENT; v++)
		if (counts[v])
			return compare_verdicts[v];
	return counts[COMPARE_UNDECIDED] || !counts[COMPARE_EQUIVALENT] ? compare_verdicts[COMPARE_UNDECIDED]
									: compare_verdicts[COMPARE_EQUIVALENT];
}

static json_t *judged_point_json(const struct compare_join *j, const struct compare_point *p)
{
	char *label = compare_label(j, p);
	json_t *point =
	    json_pack("{s:I, s:s, s:s, s:[], s:o}", "id", p->id, "label", label, "metric", p->metric ? p->metric : "",
		      "quantities", "not_compared", compare_point_not_compared(p));

	free(label);
	return point;
}

/* The quantities of a comparison, as far as they could be judged. */
static void add_entries(const struct knobs_joint *all, const struct pair *pair, json_t *points)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct compare_entry *t = &all->entries[i];
		json_t *point;

		if (t->point < pair->join.point || t->point >= pair->join.point + pair->join.count)
			continue;
		point = json_array_get(points, (size_t)(t->point - pair->join.point));
		if (joint_is_judged(all, i))
			json_array_append_new(json_object_get(point, "quantities"), compare_entry_json(t));
		else
			json_array_append_new(
			    json_object_get(point, "not_compared"),
			    json_pack("{s:s, s:s}", "quantity", t->values->of.key, "why", "valid in too few blocks"));
	}
}

static json_t *comparison_json(const json_t *asked, const struct pair *pair, const struct knobs_joint *all)
{
	json_t *points = json_array(), *one = json_copy((json_t *)asked);

	for (size_t i = 0; i < pair->join.count; i++)
		json_array_append_new(points, judged_point_json(&pair->join, &pair->join.point[i]));
	add_entries(all, pair, points);
	json_object_set_new(one, "verdict", json_string(verdict_of(points)));
	json_object_set_new(one, "points", points);
	return one;
}

/* --- the knobs --- */

const json_t *knobs_comparison(const json_t *result, const char *id, const char *what)
{
	const json_t *one;
	size_t i;

	json_array_foreach (json_object_get(result, "comparisons"), i, one)
		if (!strcmp(json_text(one, "knob"), id) && !strcmp(json_text(one, "what"), what))
			return one;
	return NULL;
}

const char *knobs_verdict(const json_t *result, const char *id)
{
	const json_t *one;
	size_t i;

	json_array_foreach (json_object_get(result, "knobs"), i, one)
		if (!strcmp(json_text(one, "id"), id))
			return json_text(one, "verdict");
	return "undecided";
}

/* An improvement with the knob alone means that it helps; a regression without it means that it is needed. */
static const char *knob_verdict(const char *alone, const char *without)
{
	enum { SLOWER = 1, FASTER = 2, SAME = 4 };
	static const struct {
		const char *verdict;
		int bits;
	} bits[] = {{"regression", SLOWER}, {"improvement", FASTER}, {"mixed", SLOWER | FASTER}, {"equivalent", SAME}};
	int a = 0, w = 0;

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		a |= strcmp(alone, bits[i].verdict) ? 0 : bits[i].bits;
		w |= strcmp(without, bits[i].verdict) ? 0 : bits[i].bits;
	}
	if (((a | w) & (SLOWER | FASTER)) == 0)
		return a & w & SAME ? "no effect" : "undecided";
	if ((w & FASTER) || (a & SLOWER))
		return (w & SLOWER) || (a & FASTER) ? "mixed" : "worse";
	return w & SLOWER ? "needed" : "helps";
}

static json_t *knobs_json(const struct knobs *k, const json_t *result)
{
	json_t *list = json_array();
	const json_t *knob;
	size_t i;

	json_array_foreach (json_object_get(k->j, "knobs"), i, knob) {
		const char *id = json_text(knob, "id");
		const json_t *alone = knobs_comparison(result, id, "alone"),
			     *without = knobs_comparison(result, id, "without");

		json_array_append_new(list, json_pack("{s:s, s:s}", "id", id, "verdict",
						      alone && without ? knob_verdict(json_text(alone, "verdict"),
										      json_text(without, "verdict"))
								       : "untested"));
	}
	return list;
}

/* --- the whole result --- */

static json_t *result_json(const struct knobs *k, const struct pair *pairs, const struct knobs_joint *all,
			   const struct knobs_choice *c)
{
	json_t *comparisons = json_array(), *result;
	const json_t *asked;
	size_t i;

	json_array_foreach (json_object_get(k->j, "comparisons"), i, asked)
		json_array_append_new(comparisons, comparison_json(asked, &pairs[i], all));
	result = json_pack("{s:I, s:f, s:{s:I, s:b}, s:f, s:I, s:o}", "blocks", (json_int_t)all->plan.base, "alpha",
			   COMPARE_ALPHA, "relabellings", "count", (json_int_t)all->plan.count, "exact",
			   all->plan.exact, "least_margin_percent", 100 * c->rule.margin, "seed",
			   (json_int_t)c->rule.seed, "comparisons", comparisons);
	json_object_set_new(result, "knobs", knobs_json(k, result));
	return result;
}

static int join_comparisons(const struct knobs *k, const struct knobs_choice *c, struct arm_runs *arms,
			    struct pair *pairs, struct err *e)
{
	const json_t *asked;
	size_t i;
	int rc = 0;

	json_array_foreach (json_object_get(k->j, "comparisons"), i, asked)
		rc = rc
			 ?: pair_join(&pairs[i], k, KNOBS_STAGE_BLOCKS, arms, json_text(asked, "base"),
				      json_text(asked, "with"), &c->choice, e);
	return rc;
}

json_t *knobs_judge(const struct knobs *k, const struct knobs_choice *c, struct err *e)
{
	size_t count = json_array_size(json_object_get(k->j, "comparisons"));
	struct pair *pairs = or_abort(calloc(count + 1, sizeof(*pairs)));
	struct arm_runs arms = {NULL, 0};
	struct knobs_joint all = {.entries = NULL};
	json_t *result = NULL;
	int rc = join_comparisons(k, c, &arms, pairs, e);

	for (size_t i = 0; !rc && i < count; i++)
		joint_add(&all, &pairs[i].join, &c->rule);
	if (!rc)
		rc = joint_judge(&all, knobs_blocks_done(k, KNOBS_STAGE_BLOCKS), c->rule.seed);
	if (rc)
		err_sys(e, rc, k->path, "judge its runs");
	else
		result = result_json(k, pairs, &all, c);
	joint_free(&all);
	for (size_t i = 0; i < count; i++)
		pair_free(&pairs[i]);
	free(pairs);
	arm_runs_free(&arms);
	return result;
}

json_t *knobs_compare(const struct knobs *k, const char *stage, const char *base, const char *with,
		      const struct knobs_choice *c, struct err *e)
{
	struct arm_runs arms = {NULL, 0};
	struct pair pair = {.runs = {.count = 0}};
	json_t *result = pair_join(&pair, k, stage, &arms, base, with, &c->choice, e)
			     ? NULL
			     : compare_judge(&pair.join, &c->rule, e);

	pair_free(&pair);
	arm_runs_free(&arms);
	return result;
}
