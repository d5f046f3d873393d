#include "compare/compare_time.h"

#include <math.h>
#include <stdlib.h>

#include "common/or_abort.h"

static json_t *time_unit_json(const struct compare_run *first, const struct compare_values *v)
{
	double value = v->value[first->unit];

	if (v->logarithms)
		value = exp(value);
	return json_pack("{s:s, s:s, s:s, s:I, s:o, s:[]}", "arm", compare_arm_name[first->arm], "boot", first->boot,
			 "kernel", first->kernel, "started_ns", first->started_ns, "value",
			 isnan(value) ? json_null() : json_real(value), "runs");
}

static int by_start(const void *a, const void *b)
{
	json_int_t x = json_integer_value(json_object_get(*(json_t *const *)a, "started_ns")),
		   y = json_integer_value(json_object_get(*(json_t *const *)b, "started_ns"));

	return (x > y) - (x < y);
}

json_t *compare_time(const struct compare_join *j, const struct compare_point *p)
{
	const struct compare_values *v = p->quantity_count ? &p->quantity[0] : NULL;
	size_t n = j->runs->units[ARM_BASE] + j->runs->units[ARM_WITH];
	json_t **unit, *list = json_array();

	if (!v || !v->value)
		return list;
	unit = or_abort(calloc(n + 1, sizeof(json_t *)));
	/* Runs of an arm are in chronological order, so the first one found of a unit is its first. */
	for (size_t i = 0; i < j->runs->count; i++) {
		const struct compare_run *run = &j->runs->run[i];
		double value = compare_point_number(p, i, v);

		if (!unit[run->unit])
			unit[run->unit] = time_unit_json(run, v);
		if (!isnan(value))
			json_array_append_new(json_object_get(unit[run->unit], "runs"), json_real(value));
	}
	qsort(unit, n, sizeof(json_t *), by_start);
	for (size_t u = 0; u < n; u++)
		json_array_append_new(list, unit[u]);
	free(unit);
	return list;
}

int compare_drift(const struct compare_runs *runs, struct perm_plan *plan)
{
	size_t n = runs->units[ARM_BASE] + runs->units[ARM_WITH];
	double *when = or_abort(calloc(n + 1, sizeof(*when))), *count = or_abort(calloc(n + 1, sizeof(*count)));
	int rc;

	for (size_t i = 0; i < runs->count; i++) {
		/* Relative to the first run: a double cannot hold nanoseconds since 1970 exactly. */
		when[runs->run[i].unit] += (double)(runs->run[i].started_ns - runs->run[0].started_ns);
		count[runs->run[i].unit]++;
	}
	for (size_t u = 0; u < n; u++)
		when[u] /= fmax(1, count[u]);
	rc = perm_plan_drift(plan, when);
	free(when);
	free(count);
	return rc;
}
