#include "study/knobs/knobs_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/codec.h"
#include "common/err.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "judge/compare/compare_verdict.h"
#include "study/study.h"

#define SEED_MOST (1LL << 52)

/* --- the plan: knobs and arms are named by their ids and names --- */

static size_t knob_by_id(const struct knobs *k, const char *id)
{
	size_t i = 0;

	while (i < k->knobs && strcmp(k->knob[i].id, id) != 0)
		i++;
	return i;
}

/* The ids of those that `has` has. */
static json_t *knob_ids(const struct knobs *k, const bool *has)
{
	json_t *ids = json_array();

	for (size_t i = 0; i < k->knobs; i++)
		if (has[i])
			json_array_append_new(ids, json_string(k->knob[i].id));
	return ids;
}

static json_t *encode_environment(const void *arm, const void *knobs)
{
	const struct knobs_arm *a = arm;

	(void)knobs;
	return json_string(a->has_profile ? a->name : KNOBS_NONE);
}

static json_t *encode_has(const void *arm, const void *knobs)
{
	const struct knobs_arm *a = arm;

	return a->has_profile ? knob_ids(knobs, a->has) : NULL;
}

static const char *decode_has(void *arm, const json_t *ids, void *knobs)
{
	const struct knobs *k = knobs;
	struct knobs_arm *a = arm;
	const json_t *id;
	size_t i;

	a->has_profile = ids;
	a->has = or_abort(calloc(k->knobs + 1, sizeof(*a->has)));
	json_array_foreach (ids, i, id) {
		const size_t at = knob_by_id(k, json_is_string(id) ? json_string_value(id) : "");

		if (at < k->knobs)
			a->has[at] = true;
	}
	return NULL;
}

static void release_has(void *arm)
{
	free(((struct knobs_arm *)arm)->has);
}

static json_t *encode_pair(const void *pair, const void *knobs)
{
	const struct knobs_pair *p = pair;
	const struct knobs *k = knobs;

	return json_pack("{s:s, s:s, s:s, s:s}", "knob", p->what == KNOBS_OF_WHOLE ? "" : k->knob[p->knob].id, "what",
			 knobs_whats[p->what], "base", k->arm[p->base].name, "with", k->arm[p->with].name);
}

static const char *decode_pair(void *pair, const json_t *j, void *knobs)
{
	const struct knobs *k = knobs;
	const char *what = json_text(j, "what");
	struct knobs_pair p = {.what = 0,
			       .knob = knob_by_id(k, json_text(j, "knob")),
			       .base = knobs_find_arm(k, json_text(j, "base")),
			       .with = knobs_find_arm(k, json_text(j, "with"))};

	while (p.what < KNOBS_WHATS && strcmp(knobs_whats[p.what], what) != 0)
		p.what++;
	if (p.what == KNOBS_WHATS || p.base == k->arms || p.with == k->arms ||
	    (p.what != KNOBS_OF_WHOLE && p.knob == k->knobs))
		return "it has a comparison of something else than its arms and knobs";
	p.knob = p.what == KNOBS_OF_WHOLE ? 0 : p.knob;
	*(struct knobs_pair *)pair = p;
	return NULL;
}

static const struct codec expected_rows[] = {
    CODEC_AS(KNOBS_NONE, knobs, expected_none_s, .most = 1e15, .flags = CODEC_NEEDED),
    CODEC_AS(KNOBS_WHOLE, knobs, expected_whole_s, .most = 1e15, .flags = CODEC_NEEDED),
    {0},
};

static const struct codec knob_rows[] = {
    CODEC(knob, id, .flags = CODEC_NEEDED, .check = study_check_name),
    CODEC(knob, name, .flags = CODEC_NEVER_NULL),
    CODEC_AS("knob", knob, key, .flags = CODEC_NEVER_NULL),
    CODEC(knob, setting, .flags = CODEC_NEEDED | CODEC_OBJECT),
    CODEC(knob, cost, .flags = CODEC_NEVER_NULL),
    CODEC(knob, folder, .flags = CODEC_NEVER_NULL),
    CODEC_AS("shields", knob, in_shields),
    CODEC(knob, tested),
    CODEC(knob, why, .flags = CODEC_NEVER_NULL),
    {0},
};

/* Profiles are written below a folder of the arm's name. */
static const struct codec arm_rows[] = {
    CODEC(knobs_arm, name, .flags = CODEC_NEEDED, .check = study_check_name),
    CODEC_BY("environment", encode_environment, NULL),
    CODEC_BY("knobs", encode_has, decode_has, .release = release_has),
    {0},
};

static const struct codec pair_rows[] = {CODEC_BY(NULL, encode_pair, decode_pair), {0}};

static const struct codec plan_rows[] = {
    CODEC(knobs, profile, .flags = CODEC_NEVER_NULL),
    CODEC(knobs, boot, .flags = CODEC_NEVER_NULL),
    CODEC(knobs, points, .flags = CODEC_ARRAY | CODEC_NEVER_NULL),
    CODEC_GROUPED("expected_s", expected_rows, .flags = CODEC_NEEDED),
    CODEC(knobs, metric),
    CODEC_LISTED("quantities", knobs, quantities.word, quantities.count, codec_texts),
    CODEC_LISTED("margins", knobs, margins.word, margins.count, codec_texts),
    CODEC(knobs, blocks, .least = 1, .most = KNOBS_BLOCKS_MAX, .flags = CODEC_NEEDED),
    CODEC(knobs, seed, .most = SEED_MOST),
    CODEC_LISTED("knobs", knobs, knob, knobs, knob_rows, .flags = CODEC_NEEDED),
    CODEC_LISTED("arms", knobs, arm, arms, arm_rows, .flags = CODEC_NEEDED),
    CODEC_LISTED("comparisons", knobs, pair, pairs, pair_rows, .flags = CODEC_NEEDED),
    {0},
};

json_t *knobs_plan_to_json(const void *knobs)
{
	return codec_encode(plan_rows, knobs, NULL);
}

static void smallest_free(struct knobs_smallest *s)
{
	for (size_t i = 0; i < s->steps; i++)
		free(s->step[i].answer);
	free(s->step);
	free(s->has);
	free(s->answer);
}

void knobs_free(void *knobs)
{
	struct knobs *k = knobs;

	knobs_clear_result(k);
	smallest_free(&k->smallest);
	codec_free(plan_rows, k);
	free(k);
}

/* What is named twice, or not there. */
static const char *trouble_with_names(const struct knobs *k)
{
	for (size_t i = 0; i < k->knobs; i++)
		if (knob_by_id(k, k->knob[i].id) < i)
			return "it has a knob without a name of its own";
	for (size_t i = 0; i < k->arms; i++)
		if (knobs_find_arm(k, k->arm[i].name) < i)
			return "it has an arm without a name of its own";
	return knobs_find_arm(k, KNOBS_WHOLE) == k->arms ? "it has no arm with the whole profile" : NULL;
}

int knobs_plan_from_json(struct study *s, const json_t *j, const char *file, struct err *e)
{
	struct knobs *k = s->plan = or_abort(calloc(1, sizeof(*k)));
	const char *why = codec_decode(plan_rows, k, j, NULL) ?: trouble_with_names(k);

	return why ? err_set(e, -EINVAL, STATUS_USAGE, file, NULL,
			     "it is not a study of knobs that this kblat can read: %s", why)
		   : 0;
}

/* --- the answer --- */

static json_t *compared_to_json(const struct knobs *k, size_t i)
{
	const struct comparison *c = &k->result->compared[i];
	json_t *j = encode_pair(&k->pair[i], k), *points = json_array();

	for (size_t p = 0; p < c->point_count; p++)
		json_array_append_new(points, compare_json_judged(&c->points[p]));
	json_object_set_new(j, "verdict", json_string(compare_verdicts[k->result->verdict[i]]));
	json_object_set_new(j, "points", points);
	return j;
}

static json_t *result_to_json(const struct knobs *k)
{
	const struct knobs_result *r = k->result;
	json_t *compared = json_array(), *list = json_array();

	for (size_t i = 0; i < k->pairs; i++)
		json_array_append_new(compared, compared_to_json(k, i));
	for (size_t i = 0; i < k->knobs; i++)
		json_array_append_new(
		    list, json_pack("{s:s, s:s}", "id", k->knob[i].id, "verdict", knob_verdicts[r->knob[i]]));
	return json_pack("{s:I, s:f, s:{s:I, s:b}, s:f, s:I, s:o, s:o}", "blocks", (json_int_t)r->blocks, "alpha",
			 COMPARE_ALPHA, "relabellings", "count", (json_int_t)r->relabellings, "exact", r->exact,
			 "least_margin_percent", 100 * r->least_margin, "seed", (json_int_t)r->seed, "comparisons",
			 compared, "knobs", list);
}

static json_t *smallest_to_json(const struct knobs *k)
{
	const struct knobs_smallest *s = &k->smallest;
	json_t *steps = json_array();

	for (size_t i = 0; i < s->steps; i++) {
		const struct knobs_arm *arm = &k->arm[s->step[i].arm];

		json_array_append_new(
		    steps, json_pack("{s:s, s:o, s:s, s:s}", "arm", arm->name, "knobs", knob_ids(k, arm->has),
				     "verdict", compare_outcomes[s->step[i].verdict], "answer", s->step[i].answer));
	}
	return json_pack("{s:s, s:s, s:o?, s:o}", "answer", s->answer, "verdict", smallest_verdicts[s->verdict],
			 "knobs", s->has ? knob_ids(k, s->has) : NULL, "steps", steps);
}

json_t *knobs_answer_to_json(const struct knobs *k)
{
	return json_pack("{s:o, s:o}", "result", k->result ? result_to_json(k) : json_null(), "smallest",
			 k->smallest.answer ? smallest_to_json(k) : json_null());
}
