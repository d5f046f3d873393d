#include "claims/claim_point.h"

#include <stdlib.h>

#include "common/fs.h"
#include "common/or_abort.h"

json_int_t claim_point_id(const json_t *point)
{
	return json_integer_value(json_object_get(point, "id"));
}

const json_t *claim_point_param(const json_t *point, const char *key)
{
	return json_object_get(json_object_get(point, "params"), key);
}

/* `holder`: a point, or a repetition of it. */
static const json_t *number_in(const json_t *holder, const struct claim_metric *metric)
{
	const json_t *of = json_object_get(json_object_get(holder, "metrics"), metric->of);

	/* Blocks such as "pacing" are next to the metrics. */
	return json_object_get(of ? of : json_object_get(holder, metric->of), metric->statistic);
}

/* Why the number cannot be used for judging; NULL: it can. */
static char *trouble_with(const json_t *point, const struct claim_metric *metric, const json_t *number)
{
	const char *reason = json_string_value(json_array_get(json_object_get(point, "reasons"), 0));
	json_int_t id = claim_point_id(point);

	if (!json_is_true(json_object_get(point, "valid")))
		return fs_path("point %" JSON_INTEGER_FORMAT " is not valid: %s", id, reason ? reason : "?");
	if (!number)
		return fs_path("point %" JSON_INTEGER_FORMAT " has no %s", id, metric->text);
	if (!json_is_number(number))
		return fs_path("point %" JSON_INTEGER_FORMAT ": too few samples for its %s", id, metric->text);
	return NULL;
}

bool claim_point_sample(const json_t *point, const struct claim_metric *metric, struct sample *s, char **why)
{
	const json_t *number = number_in(point, metric), *reps = json_object_get(point, "reps"), *rep;
	double *values;
	size_t i;

	*s = (struct sample){.over_reps = claim_metric_over_reps(metric), .value = json_number_value(number)};
	*why = trouble_with(point, metric, number);
	if (*why)
		return false;
	values = or_abort(calloc(json_array_size(reps) + 1, sizeof(*values)));
	json_array_foreach (reps, i, rep)
		if (json_is_number(number_in(rep, metric)))
			values[s->reps++] = json_number_value(number_in(rep, metric));
	s->rep = values;
	return true;
}

void claim_sample_free(struct sample *s)
{
	free((double *)s->rep);
	s->rep = NULL;
}
