#include "study/knobs/knobs_json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "judge/compare/compare_verdict.h"
#include "study/study_json.h"

#define SEED_MOST (1LL << 52)

/* --- the plan, to JSON --- */

static json_t *knob_to_json(const struct knob *knob)
{
	return json_pack("{s:s, s:s, s:s, s:O, s:s, s:s, s:b, s:b, s:s}", "id", knob->id, "name", knob->name, "knob",
			 knob->key, "setting", knob->setting, "cost", knob->cost, "folder", knob->folder, "shields",
			 knob->in_shields, "tested", knob->tested, "why", knob->why);
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

static json_t *encode_arm(const struct knobs *k, const struct knobs_arm *arm)
{
	return json_pack("{s:s, s:s, s:o*}", "name", arm->name, "environment",
			 arm->has_profile ? arm->name : KNOBS_NONE, "knobs",
			 arm->has_profile ? knob_ids(k, arm->has) : NULL);
}

static json_t *pair_to_json(const struct knobs *k, const struct knobs_pair *p)
{
	return json_pack("{s:s, s:s, s:s, s:s}", "knob", p->what == KNOBS_OF_WHOLE ? "" : k->knob[p->knob].id, "what",
			 knobs_whats[p->what], "base", k->arm[p->base].name, "with", k->arm[p->with].name);
}

static json_t *texts_to_json(const struct words *w)
{
	return json_texts((const char *const *)w->word, w->count);
}

json_t *knobs_plan_to_json(const void *knobs)
{
	const struct knobs *k = knobs;
	json_t *list = json_array(), *arms = json_array(), *pairs = json_array();

	for (size_t i = 0; i < k->knobs; i++)
		json_array_append_new(list, knob_to_json(&k->knob[i]));
	for (size_t i = 0; i < k->arms; i++)
		json_array_append_new(arms, encode_arm(k, &k->arm[i]));
	for (size_t i = 0; i < k->pairs; i++)
		json_array_append_new(pairs, pair_to_json(k, &k->pair[i]));
	return json_pack("{s:s, s:s, s:O, s:{s:f, s:f}, s:s?, s:o, s:o, s:I, s:I, s:o, s:o, s:o}", "profile",
			 k->profile, "boot", k->boot, "points", k->points, "expected_s", KNOBS_NONE, k->expected_none_s,
			 KNOBS_WHOLE, k->expected_whole_s, "metric", k->metric, "quantities",
			 texts_to_json(&k->quantities), "margins", texts_to_json(&k->margins), "blocks",
			 (json_int_t)k->blocks, "seed", (json_int_t)k->seed, "knobs", list, "arms", arms, "comparisons",
			 pairs);
}

/* --- the answer --- */

static json_t *compared_to_json(const struct knobs *k, size_t i)
{
	const struct comparison *c = &k->result->compared[i];
	json_t *j = pair_to_json(k, &k->pair[i]), *points = json_array();

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

/* --- the plan, from JSON --- */

static char *copy_text(const json_t *object, const char *key)
{
	return fs_path("%s", json_text(object, key));
}

static size_t knob_by_id(const struct knobs *k, const char *id)
{
	size_t i = 0;

	while (i < k->knobs && strcmp(k->knob[i].id, id) != 0)
		i++;
	return i;
}

/* Each returns why it is refused, or NULL. */
static const char *decode_knob(struct knobs *k, const json_t *j)
{
	struct knob *knob;
	const char *id = json_text(j, "id");

	if (!study_is_name(id) || knob_by_id(k, id) < k->knobs)
		return "it has a knob without a name of its own";
	if (!json_is_object(json_object_get(j, "setting")))
		return "it has a knob without a setting";
	knob = knobs_add_knob(k);
	*knob = (struct knob){.id = copy_text(j, "id"),
			      .name = copy_text(j, "name"),
			      .key = copy_text(j, "knob"),
			      .cost = copy_text(j, "cost"),
			      .folder = copy_text(j, "folder"),
			      .why = copy_text(j, "why"),
			      .setting = json_incref(json_object_get(j, "setting")),
			      .in_shields = json_is_true(json_object_get(j, "shields")),
			      .tested = json_is_true(json_object_get(j, "tested"))};
	return NULL;
}

/* Profiles are written below a folder of the arm's name. */
static const char *decode_arm(struct knobs *k, const json_t *j)
{
	const json_t *ids = json_object_get(j, "knobs"), *id;
	const char *name = json_text(j, "name");
	bool *has;
	size_t i;

	if (!study_is_name(name) || knobs_find_arm(k, name) < k->arms)
		return "it has an arm without a name of its own";
	has = ids ? or_abort(calloc(k->knobs + 1, sizeof(*has))) : NULL;
	json_array_foreach (ids, i, id) {
		const size_t at = knob_by_id(k, json_is_string(id) ? json_string_value(id) : "");

		if (at < k->knobs)
			has[at] = true;
	}
	knobs_add_arm(k, name, has);
	return NULL;
}

static const char *decode_pair(struct knobs *k, const json_t *j)
{
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
	k->pair = grow_or_abort(k->pair, k->pairs, sizeof(*k->pair));
	k->pair[k->pairs++] = p;
	return NULL;
}

static const char *read_texts(struct words *w, const json_t *list)
{
	return words_from_json(w, list) ? NULL : "it has quantities or margins that are no texts";
}

static const char *read_numbers_of(struct knobs *k, const json_t *j)
{
	const json_t *expected = json_object_get(j, "expected_s"), *asked = json_object_get(j, "blocks"),
		     *seed = json_object_get(j, "seed");

	k->expected_none_s = json_number_or_nan(expected, KNOBS_NONE);
	k->expected_whole_s = json_number_or_nan(expected, KNOBS_WHOLE);
	k->blocks = (size_t)json_integer_value(asked);
	k->seed = (uint64_t)json_integer_value(seed);
	if (!(k->expected_none_s >= 0) || !(k->expected_whole_s >= 0) || json_integer_value(asked) < 1 ||
	    json_integer_value(asked) > KNOBS_BLOCKS_MAX || json_integer_value(seed) < 0 ||
	    json_integer_value(seed) > SEED_MOST)
		return "it has numbers that are out of range";
	return NULL;
}

static const char *decode_list(struct knobs *k, const json_t *list, const char *(*read)(struct knobs *, const json_t *))
{
	const char *why = json_is_array(list) ? NULL : "it has no knobs, arms or comparisons";
	const json_t *one;
	size_t i;

	json_array_foreach (list, i, one)
		why = why ? why : read(k, one);
	return why;
}

static const char *read_plan(struct knobs *k, const json_t *j)
{
	k->profile = copy_text(j, "profile");
	k->boot = copy_text(j, "boot");
	k->points = json_incref(json_object_get(j, "points"));
	k->points = k->points ? k->points : json_array();
	k->metric = *json_text(j, "metric") ? copy_text(j, "metric") : NULL;
	return read_numbers_of(k, j) ?: read_texts(&k->quantities, json_object_get(j, "quantities")) ?:
	       read_texts(&k->margins, json_object_get(j, "margins")) ?:
	       decode_list(k, json_object_get(j, "knobs"), decode_knob) ?: decode_list(k, json_object_get(j, "arms"), decode_arm) ?:
	       decode_list(k, json_object_get(j, "comparisons"), decode_pair);
}

int knobs_plan_from_json(struct study *s, const json_t *j, const char *file, struct err *e)
{
	struct knobs *k = s->plan = or_abort(calloc(1, sizeof(*k)));
	const char *why = read_plan(k, j);

	if (!why && knobs_find_arm(k, KNOBS_WHOLE) == k->arms)
		why = "it has no arm with the whole profile";
	return why ? err_set(e, -EINVAL, STATUS_USAGE, file, NULL,
			     "it is not a study of knobs that this kblat can read: %s", why)
		   : 0;
}
