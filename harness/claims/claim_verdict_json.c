#include "claims/claim_verdict_json.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "common/json.h"
#include "common/or_abort.h"

static json_t *ids_to_json(const struct point_ids *ids)
{
	json_t *all = json_array();

	for (size_t i = 0; i < ids->count; i++)
		json_array_append_new(all, json_integer(ids->id[i]));
	return all;
}

static json_t *measured_to_json(double value)
{
	return isnan(value) ? json_null() : json_real(value);
}

static json_t *case_to_json(const struct claim_case *c)
{
	return or_abort(json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:s}", "label", c->label, "points",
				  ids_to_json(&c->points), "against", ids_to_json(&c->against), "value",
				  measured_to_json(c->value), "low", measured_to_json(c->low), "high",
				  measured_to_json(c->high), "measured", c->measured, "verdict",
				  claim_outcome_names[c->verdict], "why", c->why));
}

static json_t *verdict_to_json(const struct claim_verdict *v)
{
	json_t *cases = json_array();

	for (size_t i = 0; i < v->case_count; i++)
		json_array_append_new(cases, case_to_json(&v->cases[i]));
	return or_abort(json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "experiment",
				  v->experiment, "id", v->id, "claim", v->claim, "source", v->source,
				  "measured_by_source", v->measured_by_source, "metric", v->metric, "wanted", v->wanted,
				  "measured", v->measured, "verdict", claim_outcome_names[v->verdict], "why", v->why,
				  "cases", cases));
}

json_t *claim_verdicts_to_json(const struct claim_verdicts *v)
{
	json_t *all = json_array();

	for (size_t i = 0; i < v->count; i++)
		json_array_append_new(all, verdict_to_json(&v->all[i]));
	return json_pack("{s:i, s:o}", "schema", 1, "claims", all);
}

static char *text_from_json(const json_t *object, const char *key)
{
	return or_abort(strdup(json_text(object, key)));
}

static enum claim_outcome verdict_from_json(const json_t *object)
{
	const char *name = json_text(object, "verdict");

	for (enum claim_outcome v = 0; v < CLAIM_OUTCOMES; v++)
		if (!strcmp(name, claim_outcome_names[v]))
			return v;
	return CLAIM_NOT_JUDGED;
}

static struct point_ids ids_from_json(const json_t *ids)
{
	struct point_ids list = {0};
	const json_t *id;
	size_t i;

	json_array_foreach (ids, i, id)
		point_ids_add(&list, json_integer_value(id));
	return list;
}

static struct claim_case case_from_json(const json_t *j)
{
	return (struct claim_case){
	    .label = text_from_json(j, "label"),
	    .points = ids_from_json(json_object_get(j, "points")),
	    .against = ids_from_json(json_object_get(j, "against")),
	    .value = json_number_or_nan(j, "value"),
	    .low = json_number_or_nan(j, "low"),
	    .high = json_number_or_nan(j, "high"),
	    .measured = text_from_json(j, "measured"),
	    .verdict = verdict_from_json(j),
	    .why = text_from_json(j, "why"),
	};
}

static struct claim_verdict one_from_json(const json_t *j)
{
	struct claim_verdict v = {
	    .experiment = text_from_json(j, "experiment"),
	    .id = text_from_json(j, "id"),
	    .claim = text_from_json(j, "claim"),
	    .source = text_from_json(j, "source"),
	    .measured_by_source = text_from_json(j, "measured_by_source"),
	    .metric = text_from_json(j, "metric"),
	    .wanted = text_from_json(j, "wanted"),
	    .measured = text_from_json(j, "measured"),
	    .verdict = verdict_from_json(j),
	    .why = text_from_json(j, "why"),
	};
	const json_t *one;
	size_t i;

	json_array_foreach (json_object_get(j, "cases"), i, one)
		claim_verdict_add_case(&v, case_from_json(one));
	return v;
}

struct claim_verdicts claim_verdicts_from_json(const json_t *document)
{
	struct claim_verdicts all = {0};
	const json_t *one;
	size_t i;

	json_array_foreach (json_object_get(document, "claims"), i, one)
		claim_verdicts_add(&all, one_from_json(one));
	return all;
}
