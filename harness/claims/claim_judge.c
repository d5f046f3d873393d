#include "claims/claim_judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "claims/claim.h"
#include "claims/claim_json.h"
#include "claims/claim_needs.h"
#include "claims/claim_pairing.h"
#include "claims/claim_point.h"
#include "claims/claim_pool.h"
#include "claims/claim_text.h"
#include "claims/claim_trend.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"

/* --- case by case --- */

static void judge_numbers(struct claim_case *c, const struct claim *claim, const struct sample *a,
			  const struct sample *b)
{
	struct estimate e;

	if (claim->relation == CLAIM_RATIO && b->value == 0) {
		claim_case_decide(c, CLAIM_NOT_JUDGED, fs_path("the value to compare with is 0"));
		return;
	}
	e = claim->relation == CLAIM_VALUE   ? estimate_value(a)
	    : claim->relation == CLAIM_RATIO ? estimate_ratio(a, b)
					     : estimate_difference(a, b);
	claim_case_bound(c, claim, &e);
}

/* Judge a point and what it is compared with. */
static void judge_point(struct claim_case *c, const struct claim_pairing *p, const json_t *point)
{
	bool is_alone = p->claim->relation == CLAIM_VALUE;
	struct sample a = {0}, b = {0};
	char *why = NULL;
	const json_t *partner = is_alone ? NULL : claim_pairing_partner(p, point, &why);

	point_ids_add(&c->points, claim_point_id(point));
	if (partner)
		point_ids_add(&c->against, claim_point_id(partner));
	if (!why && claim_point_sample(point, &p->claim->metric, &a, &why) &&
	    (is_alone || claim_point_sample(partner, &p->claim->against.metric, &b, &why)))
		judge_numbers(c, p->claim, &a, &b);
	else
		claim_case_decide(c, CLAIM_NOT_JUDGED, why);
	claim_sample_free(&a);
	claim_sample_free(&b);
}

/* Points of one trend share a case: that of the first. */
static bool is_first_of_trend(const struct claim_pairing *p, size_t index)
{
	const json_t *group = claim_pairing_group(p, p->points.points[index]);

	return (size_t)json_integer_value(json_array_get(group, 0)) == index;
}

static void judge_pool(struct claim_verdict *v, const struct claim_pairing *p)
{
	struct claim_case c = claim_case_make(fs_path("%zu cases", p->points.count));

	claim_pool_judge(&c, p);
	claim_verdict_add_case(v, c);
}

static void judge_cases(struct claim_verdict *v, const struct claim_pairing *p)
{
	for (size_t i = 0; i < p->points.count; i++) {
		const json_t *point = p->points.points[i];
		struct claim_case c;

		if (claim_is_trend(p->claim) && !is_first_of_trend(p, i))
			continue;
		c = claim_case_make(claim_pairing_label(p, point));
		if (claim_is_trend(p->claim))
			claim_trend_judge(&c, p, point);
		else
			judge_point(&c, p, point);
		claim_verdict_add_case(v, c);
	}
}

/* --- the claim as a whole --- */

static void add_devices(json_t *devices, const struct claim_side *side)
{
	char id[32];

	for (size_t i = 0; i < side->count; i++) {
		snprintf(id, sizeof(id), "%" JSON_INTEGER_FORMAT, claim_point_id(side->points[i]));
		json_array_extend(devices, json_object_get(side->run->devices, id));
	}
}

/* The needs that the machine does not meet; NULL: none. Both runs are from the same machine. */
static char *lacking(const struct claim_pairing *p)
{
	json_t *devices = json_array();
	const struct claim_run *run = p->points.run;
	struct claim_machine machine = {run->run, {run->state[0], run->state[1]}, devices};
	char why[256];
	bool met;

	add_devices(devices, &p->points);
	add_devices(devices, &p->against);
	met = claim_needs_met(p->claim, &machine, why, sizeof(why));
	json_decref(devices);
	return met ? NULL : fs_path("%s", why);
}

static size_t count_cases(const struct claim_verdict *v, enum claim_outcome verdict, const struct claim_case **first)
{
	size_t count = 0;

	for (size_t i = 0; i < v->case_count; i++)
		if (v->cases[i].verdict == verdict && !count++)
			*first = &v->cases[i];
	return count;
}

/* "rc: 0.62 is above 0.5 (and 1 case more)" */
static char *why_as_a_whole(const struct claim_case *first, size_t count)
{
	char more[64] = "";

	if (count > 1)
		snprintf(more, sizeof(more), " (and %zu case%s more)", count - 1, count == 2 ? "" : "s");
	return fs_path("%s%s%s%s", first->label, *first->label ? ": " : "", first->why, more);
}

/* A single failing case decides; otherwise one that cannot be judged. */
static void decide_by_cases(struct claim_verdict *v)
{
	static const enum claim_outcome decisive[] = {CLAIM_FAILS, CLAIM_NOT_JUDGED};
	const struct claim_case *first = NULL;

	v->verdict = CLAIM_HOLDS;
	v->why = fs_path("%s", "");
	for (size_t i = 0; v->verdict == CLAIM_HOLDS && i < 2; i++) {
		size_t count = count_cases(v, decisive[i], &first);

		if (!count)
			continue;
		free(v->why);
		v->verdict = decisive[i];
		v->why = why_as_a_whole(first, count);
	}
}

/* No conclusion is possible because of `why`, which is taken; the measured values are kept for display. */
static void withdraw(struct claim_verdict *v, char *why)
{
	v->verdict = CLAIM_NOT_JUDGED;
	v->why = why;
	for (size_t i = 0; i < v->case_count; i++)
		claim_case_decide(&v->cases[i], CLAIM_NOT_JUDGED, fs_path("%s", why));
}

/* Judge all cases. Returns why no conclusion is possible, or NULL. */
static char *judge_claim(struct claim_verdict *v, const struct claim *claim, const struct claim_run *run,
			 const struct claim_run *runs, size_t count)
{
	struct claim_pairing p;
	char *why;

	if (claim->unknown_relation)
		return fs_path("this version of kblat does not know the relation '%s'", claim->unknown_relation);
	why = claim_pairing_make(&p, claim, run, runs, count);
	if (!why) {
		(claim->pools ? judge_pool : judge_cases)(v, &p);
		why = lacking(&p);
	}
	claim_pairing_free(&p);
	return why;
}

static struct claim_verdict judge_whole(const struct claim *claim, const struct claim_run *run,
					const struct claim_run *runs, size_t count)
{
	struct claim_verdict v = {
	    .experiment = fs_path("%s", json_text(run->resolved, "name")),
	    .id = or_abort(strdup(claim->id)),
	    .claim = or_abort(strdup(claim->text)),
	    .source = or_abort(strdup(claim->source)),
	    .measured_by_source = or_abort(strdup(claim->measured_by_source)),
	    .metric = or_abort(strdup(claim->metric.text)),
	    .wanted = claim_wanted_text(claim),
	};
	char *why = judge_claim(&v, claim, run, runs, count);

	v.measured = claim_cases_text(claim, v.cases, v.case_count);
	if (why)
		withdraw(&v, why);
	else
		decide_by_cases(&v);
	return v;
}

struct claim_verdicts claim_judge_runs(const struct claim_run *runs, size_t count)
{
	struct claim_verdicts all = {0};

	for (size_t i = 0; i < count; i++) {
		struct claim_list list = claim_list_from_json(json_object_get(runs[i].resolved, "claims"));

		for (size_t k = 0; k < list.count; k++)
			claim_verdicts_add(&all, judge_whole(&list.claims[k], &runs[i], runs, count));
		claim_list_free(&list);
	}
	return all;
}
