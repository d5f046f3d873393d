#include "report/model.h"

#include <math.h>
#include <stdlib.h>

void model_free_series(struct report_series *s)
{
	histogram_free(&s->histogram);
	free(s->key);
	free(s->label);
}

void model_free(struct report *r)
{
	for (size_t i = 0; i < r->count; i++) {
		struct report_point *p = &r->points[i];

		for (size_t s = 0; s < p->series_count; s++)
			model_free_series(&p->series[s]);
		free(p->series);
		layout_free(&p->layout);
		json_decref(p->outcome);
		free(p->label);
		free(p->name);
	}
	for (size_t i = 0; i < r->run_count; i++) {
		json_decref(r->runs[i].summary);
		free(r->runs[i].label);
		free(r->runs[i].hosts);
	}
	free(r->points);
	free(r->runs);
	free(r->leading);
	free(r->varying.key);
	free(r->in_flows.key);
	*r = (struct report){0};
}

bool model_has_flows(const struct report *r)
{
	for (size_t i = 0; i < r->count; i++)
		if (*r->points[i].layout.flows[0].name)
			return true;
	return false;
}

bool model_is_measured(const struct report_series *s)
{
	return s->histogram.bins > 0;
}

bool model_is_valid(const struct report_point *p)
{
	return json_is_true(json_object_get(p->summary, "valid"));
}

const char *model_outcome(const struct report_point *p)
{
	const char *outcome = json_string_value(json_object_get(p->outcome, "outcome"));

	return outcome ? outcome : "not measured";
}

const char *model_reason(const struct report_point *p)
{
	const char *reason = json_string_value(json_array_get(json_object_get(p->summary, "reasons"), 0));
	const char *why = json_string_value(json_object_get(p->outcome, "why"));

	if (reason)
		return reason;
	return why ? why : "";
}

const json_t *model_side(const struct report_point *p, const struct layout_flow *flow, const char *what,
			 const char *side)
{
	const json_t *of = json_object_get(p->outcome, what);

	return json_object_get(*flow->name ? json_object_get(of, flow->name) : of, side);
}

bool model_metric(const struct report_series *s, const char *key, int64_t *value)
{
	const json_t *j = json_object_get(s->metric, key);

	if (!json_is_integer(j))
		return false;
	*value = json_integer_value(j);
	return true;
}

bool model_quantile(const struct report_series *s, double p, uint64_t beyond, int64_t *value)
{
	uint64_t rank = (uint64_t)ceil(p * (double)s->count - 1e-9), seen = 0;

	if (rank < 1)
		rank = 1;
	if (!s->count || (p < 0.5 ? rank - 1 : s->count - rank) < beyond)
		return false;
	for (size_t i = 0; i < s->histogram.bins; i++) {
		seen += s->histogram.count[i];
		*value = s->histogram.value[i];
		if (seen >= rank)
			break;
	}
	return true;
}
