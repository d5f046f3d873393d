/*
 * What was measured of a point, as the intervals want it.
 */
#include <stdlib.h>
#include <string.h>

#include "claims/claims_work.h"
#include "common/fs.h"
#include "common/or_abort.h"

static const json_t *statistic_in(const json_t *holder, const char *metric)
{
	const char *dot = strchr(metric, '.');
	char series[64];

	snprintf(series, sizeof(series), "%.*s", dot ? (int)(dot - metric) : 0, metric);
	const json_t *of = json_object_get(json_object_get(holder, "metrics"), series);

	/* What is no difference of stamps stands beside the metrics: "pacing". */
	return json_object_get(of ? of : json_object_get(holder, series), dot ? dot + 1 : "");
}

enum sample_kind claim_sample_kind(const char *metric, bool *is_max)
{
	const char *statistic = strchr(metric, '.');

	*is_max = statistic && !strcmp(statistic, ".max");
	if (*is_max || (statistic && !strcmp(statistic, ".min")))
		return SAMPLE_EXTREME;
	if (statistic && (!strcmp(statistic, ".n") || !strcmp(statistic, ".lost")))
		return SAMPLE_SUM;
	return SAMPLE_SPREAD;
}

/* Fill the sample of a point; free its `rep`. Otherwise NULL is returned and the point's trouble is in `why`. */
bool claim_sample(const json_t *point, const char *metric, struct sample *s, char **why)
{
	const json_t *value = statistic_in(point, metric), *reps = json_object_get(point, "reps"), *rep;
	const char *reason = json_string_value(json_array_get(json_object_get(point, "reasons"), 0));
	double *values;
	size_t i;

	*s = (struct sample){.value = json_number_value(value)};
	s->kind = claim_sample_kind(metric, &s->is_max);
	if (!json_is_true(json_object_get(point, "valid")))
		*why = fs_path("point %" JSON_INTEGER_FORMAT " is not valid: %s", claim_point_id(point),
			       reason ? reason : "?");
	else if (!value)
		*why = fs_path("point %" JSON_INTEGER_FORMAT " has no %s", claim_point_id(point), metric);
	else if (!json_is_number(value))
		*why = fs_path("point %" JSON_INTEGER_FORMAT ": too few samples for its %s", claim_point_id(point),
			       metric);
	if (*why)
		return false;
	values = or_abort(calloc(json_array_size(reps) + 1, sizeof(*values)));
	json_array_foreach (reps, i, rep)
		if (json_is_number(statistic_in(rep, metric)))
			values[s->reps++] = json_number_value(statistic_in(rep, metric));
	s->rep = values;
	return true;
}

void claim_sample_free(struct sample *s)
{
	free((double *)s->rep);
	s->rep = NULL;
}
