#include "files/claim/claim_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/or_abort.h"

/* The index of a name in a list; that of the NULL at the end if it is not in the list. */
static int place_of(const char *name, const char *const *names)
{
	int i = 0;

	while (names[i] && strcmp(names[i], name))
		i++;
	return i;
}

static json_t *bound_to_json(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static void replace_text(char **text, const json_t *object, const char *key)
{
	free(*text);
	*text = or_abort(strdup(json_text(object, key)));
}

/* NULL if it is not a string. */
static char *text_or_null(const json_t *value)
{
	return json_is_string(value) ? or_abort(strdup(json_string_value(value))) : NULL;
}

/* --- conditions --- */

static json_t *alternative_to_json(const struct claim_alternative *a)
{
	json_t *comparisons;

	if (a->count == 1 && a->tests[0].how == CLAIM_EQUAL)
		return json_incref(a->tests[0].value);
	comparisons = json_object();
	for (size_t i = 0; i < a->count; i++)
		json_object_set(comparisons, claim_comparison_names[a->tests[i].how], a->tests[i].value);
	return comparisons;
}

static json_t *selection_to_json(const struct claim_selection *s)
{
	json_t *all = json_object();

	for (size_t i = 0; i < s->count; i++) {
		const struct claim_condition *c = &s->conditions[i];
		json_t *alternatives = json_array();

		for (size_t k = 0; k < c->count; k++)
			json_array_append_new(alternatives, alternative_to_json(&c->alternatives[k]));
		json_object_set_new(all, c->key, alternatives);
	}
	return all;
}

static void alternative_from_json(struct claim_alternative *a, const json_t *j)
{
	const char *name;
	json_t *value;

	if (!json_is_object(j)) {
		claim_alternative_add(a, CLAIM_EQUAL, json_incref((json_t *)j));
		return;
	}
	json_object_foreach ((json_t *)j, name, value) {
		int how = place_of(name, claim_comparison_names);

		claim_alternative_add(a, how < CLAIM_COMPARISONS ? how : CLAIM_INCOMPARABLE, json_incref(value));
	}
}

static void selection_from_json(struct claim_selection *s, const json_t *conditions)
{
	const char *key;
	json_t *alternatives, *one;
	size_t i;

	json_object_foreach ((json_t *)conditions, key, alternatives) {
		struct claim_condition *c = claim_selection_add(s, key);

		json_array_foreach (alternatives, i, one)
			alternative_from_json(claim_condition_add(c), one);
	}
}

/* --- claims --- */

static json_t *against_to_json(const struct claim *c)
{
	if (!c->compares)
		return json_null();
	return json_pack("{s:s?, s:s, s:o}", "experiment", c->against.experiment, "metric", c->against.metric.text,
			 "points", selection_to_json(&c->against.points));
}

static json_t *by_to_json(const struct claim *c)
{
	json_t *by = c->has_by ? json_array() : json_null();

	for (size_t i = 0; i < c->by_count; i++)
		json_array_append_new(by, json_string(c->by[i]));
	return by;
}

static json_t *needs_to_json(const struct claim *c)
{
	json_t *needs = json_array();

	for (size_t i = 0; i < c->need_count; i++) {
		json_t *need = json_pack("{s:s}", "need", c->needs[i].name);

		if (c->needs[i].count)
			json_object_set_new(need, "count", json_integer(c->needs[i].count));
		json_array_append_new(needs, need);
	}
	return needs;
}

static json_t *claim_to_json(const struct claim *c)
{
	const char *relation = c->unknown_relation ?: claim_relation_names[c->relation];
	json_t *j = or_abort(
	    json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:s, s:o, s:o, s:s?, s:f, s:o}", "id", c->id, "claim",
		      c->text, "source", c->source, "measured_by_source", c->measured_by_source, "metric",
		      c->metric.text, "points", selection_to_json(&c->points), "against", against_to_json(c), "by",
		      by_to_json(c), "relation", relation ?: "", "min", bound_to_json(c->min), "max",
		      bound_to_json(c->max), "along", c->along, "tolerance", c->tolerance, "needs", needs_to_json(c)));

	if (c->origin != CLAIM_OF_SOURCE)
		json_object_set_new(j, "origin", json_string(claim_origin_names[c->origin]));
	if (c->pools)
		json_object_set_new(j, "pool", json_true());
	return j;
}

json_t *claim_list_to_json(const struct claim_list *list)
{
	json_t *all = json_array();

	for (size_t i = 0; i < list->count; i++)
		json_array_append_new(all, claim_to_json(&list->claims[i]));
	return all;
}

static void against_from_json(struct claim *c, const json_t *against)
{
	c->compares = json_is_object(against);
	c->against.experiment = text_or_null(json_object_get(against, "experiment"));
	claim_metric_set(&c->against.metric, json_text(against, "metric"));
	selection_from_json(&c->against.points, json_object_get(against, "points"));
}

static void relation_from_json(struct claim *c, const json_t *j)
{
	const json_t *min = json_object_get(j, "min"), *max = json_object_get(j, "max");
	const char *relation = json_text(j, "relation");

	c->relation = place_of(relation, claim_relation_names);
	if (c->relation == CLAIM_RELATIONS)
		c->unknown_relation = or_abort(strdup(relation));
	c->min = json_is_number(min) ? json_number_value(min) : -INFINITY;
	c->max = json_is_number(max) ? json_number_value(max) : INFINITY;
	c->along = text_or_null(json_object_get(j, "along"));
	if (claim_is_trend(c) && !c->along)
		c->along = or_abort(strdup(""));
	c->tolerance = json_number_value(json_object_get(j, "tolerance"));
	c->pools = json_is_true(json_object_get(j, "pool"));
}

static void lists_from_json(struct claim *c, const json_t *j)
{
	const json_t *by = json_object_get(j, "by"), *one;
	size_t i;

	c->has_by = json_is_array(by);
	json_array_foreach (by, i, one)
		claim_add_by(c, json_string_value(one) ?: "");
	json_array_foreach (json_object_get(j, "needs"), i, one)
		claim_add_need(c, json_text(one, "need"), json_integer_value(json_object_get(one, "count")));
}

/* The source's, if nothing is said. */
static enum claim_origin origin_of(const char *name)
{
	int origin = place_of(name, claim_origin_names);

	return origin < CLAIM_ORIGINS ? (enum claim_origin)origin : CLAIM_OF_SOURCE;
}

static struct claim claim_from_json(const json_t *j)
{
	struct claim c = claim_empty();

	c.origin = origin_of(json_text(j, "origin"));
	replace_text(&c.id, j, "id");
	replace_text(&c.text, j, "claim");
	replace_text(&c.source, j, "source");
	replace_text(&c.measured_by_source, j, "measured_by_source");
	claim_metric_set(&c.metric, json_text(j, "metric"));
	selection_from_json(&c.points, json_object_get(j, "points"));
	against_from_json(&c, json_object_get(j, "against"));
	relation_from_json(&c, j);
	lists_from_json(&c, j);
	return c;
}

struct claim_list claim_list_from_json(const json_t *claims)
{
	struct claim_list list = {0};
	const json_t *one;
	size_t i;

	json_array_foreach (claims, i, one)
		claim_list_add(&list, claim_from_json(one));
	return list;
}

struct claim_list claim_list_of_run(const json_t *resolved)
{
	const json_t *rules = json_object_get(resolved, "claim_rules");
	struct claim_list list = claim_list_from_json(json_object_get(resolved, "claims"));

	for (size_t i = 0; i < list.count; i++)
		list.claims[i].rules = json_is_integer(rules) ? (int)json_integer_value(rules) : 1;
	return list;
}
