#include "pairs/pairs_answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/or_abort.h"

const char *const pairs_quantiles[PAIRS_QUANTILES] = {"p50", "p99"};

static const json_t *pairs_point(const struct pairs *p, size_t pair, size_t point)
{
	return json_array_get(json_object_get(p->pair[pair].line, "points"), point);
}

void pairs_answer_matrix(const struct pairs *p, size_t point, const char *statistic, struct pairs_matrix *m)
{
	pairs_matrix_make(m, p->hosts.count);
	for (size_t i = 0; i < p->count; i++) {
		const json_t *of = pairs_point(p, i, point);

		if (json_is_true(json_object_get(of, "valid")))
			pairs_matrix_set(m, p->pair[i].two.source, p->pair[i].two.sink,
					 json_number_or_nan(of, statistic));
	}
}

static int compare_times(const void *a, const void *b)
{
	double x = json_number_or_nan(*(json_t *const *)a, "times"),
	       y = json_number_or_nan(*(json_t *const *)b, "times");

	return (x < y) - (x > y);
}

static json_t *slowest_first(json_t *list)
{
	size_t count = json_array_size(list), i;
	json_t **item = or_abort(calloc(count + 1, sizeof(*item))), *value, *sorted = json_array();

	json_array_foreach (list, i, value)
		item[i] = json_incref(value);
	qsort(item, count, sizeof(*item), compare_times);
	for (i = 0; i < count; i++)
		json_array_append_new(sorted, item[i]);
	free(item);
	json_decref(list);
	return sorted;
}

static json_t *slow_hosts_json(const struct pairs *p, const struct pairs_verdict *v)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->hosts.count; i++)
		if (v->host[i] > 0)
			json_array_append_new(
			    list, json_pack("{s:s, s:f}", "host", p->hosts.item[i].name, "times", v->host[i]));
	return slowest_first(list);
}

static json_t *slow_pairs_json(const struct pairs *p, const struct pairs_matrix *m, const struct pairs_verdict *v)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->count; i++) {
		const size_t at = p->pair[i].two.source * m->hosts + p->pair[i].two.sink;

		if (v->pair[at] > 0)
			json_array_append_new(list, json_pack("{s:s, s:s, s:f, s:f}", "source",
							      pairs_record_source(p, i)->name, "sink",
							      pairs_record_sink(p, i)->name, "value", m->value[at],
							      "times", v->pair[at]));
	}
	return slowest_first(list);
}

static json_t *statistic_json(const struct pairs *p, size_t point, const char *statistic)
{
	struct pairs_matrix m;
	struct pairs_verdict v;
	json_t *j = NULL;

	pairs_answer_matrix(p, point, statistic, &m);
	pairs_judge(&m, &v);
	if (v.pairs)
		j = json_pack("{s:f, s:I, s:o, s:o}", "median", v.median, "pairs", (json_int_t)v.pairs, "slow_hosts",
			      slow_hosts_json(p, &v), "slow_pairs", slow_pairs_json(p, &m, &v));
	pairs_verdict_free(&v);
	pairs_matrix_free(&m);
	return j ? j : json_null();
}

/* The list of points comes from the first pair that has measured them. */
static json_t *points_json(const struct pairs *p)
{
	json_t *list = json_array();
	const json_t *points = NULL;

	for (size_t i = 0; i < p->count && !json_array_size(points); i++)
		if (pairs_record_is(p, i, "completed"))
			points = json_object_get(p->pair[i].line, "points");
	for (size_t k = 0; k < json_array_size(points); k++) {
		const json_t *of = json_array_get(points, k);
		json_t *j =
		    json_pack("{s:O*, s:s}", "id", json_object_get(of, "id"), "metric", json_text(of, "metric"));

		for (size_t s = 0; s < PAIRS_QUANTILES; s++)
			json_object_set_new(j, pairs_quantiles[s], statistic_json(p, k, pairs_quantiles[s]));
		json_array_append_new(list, j);
	}
	return list;
}

/* Measured pairs in which the numbers of some point may not be quoted. */
static size_t count_not_valid(const struct pairs *p)
{
	size_t count = 0;

	for (size_t i = 0; i < p->count; i++) {
		const json_t *points = json_object_get(p->pair[i].line, "points"), *of;
		bool valid = true;
		size_t k;

		json_array_foreach (points, k, of)
			valid = valid && json_is_true(json_object_get(of, "valid"));
		count += pairs_record_is(p, i, "completed") && !valid;
	}
	return count;
}

json_t *pairs_answer(const struct pairs *p)
{
	const size_t measured = pairs_record_count(p, "completed");
	const size_t failed = pairs_record_count(p, "failed") + pairs_record_count(p, "impossible");

	return json_pack("{s:I, s:I, s:I, s:I, s:o}", "measured", (json_int_t)measured, "failed", (json_int_t)failed,
			 "left", (json_int_t)(p->count - measured - failed), "not_valid",
			 (json_int_t)count_not_valid(p), "points", points_json(p));
}

bool pairs_answer_is_slow(const json_t *answer)
{
	const json_t *point;
	size_t i, found = 0;

	json_array_foreach (json_object_get(answer, "points"), i, point)
		for (size_t s = 0; s < PAIRS_QUANTILES; s++) {
			const json_t *of = json_object_get(point, pairs_quantiles[s]);

			found += json_array_size(json_object_get(of, "slow_hosts")) +
				 json_array_size(json_object_get(of, "slow_pairs"));
		}
	return found;
}
