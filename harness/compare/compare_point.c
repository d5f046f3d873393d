#include "compare/compare_point.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "rundir/flows.h"

void compare_point_free(struct compare_point *p)
{
	for (size_t q = 0; q < p->quantity_count; q++)
		free(p->quantity[q].value);
	free(p->quantity);
	free(p->flow);
	free(p->metric);
	free(p->of_run);
	json_decref((json_t *)p->params);
	json_decref(p->reasons);
}

bool compare_is_among(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* --- metrics --- */

static const json_t *metrics_of(const struct compare_point *p, size_t run)
{
	return json_object_get(p->of_run[run], "metrics");
}

/* Is the point valid and measured in this run? */
static bool counts(const struct compare_point *p, size_t run)
{
	return json_is_true(json_object_get(p->of_run[run], "valid")) && json_object_size(metrics_of(p, run));
}

bool compare_point_has(const struct compare_point *p, const struct compare_runs *runs, const char *metric)
{
	for (size_t i = 0; i < runs->count; i++)
		if (json_object_get(metrics_of(p, i), metric) ||
		    (compare_quantity_block(metric) && json_object_get(p->of_run[i], metric)))
			return true;
	return false;
}

/* The metric of a run that only differs in its unit ("lat_us" for "lat_ns"); otherwise the first one. */
static const char *nearest_metric(const json_t *metrics, const char *wanted, bool *same_quantity)
{
	const char *end = strrchr(wanted, '_'), *key;
	json_t *metric;

	json_object_foreach ((json_t *)metrics, key, metric) {
		const char *tail = strrchr(key, '_');

		*same_quantity =
		    end && tail && end - wanted == tail - key && !strncmp(key, wanted, (size_t)(end - wanted));
		if (*same_quantity)
			return key;
	}
	key = json_object_iter_key(json_object_iter((json_t *)metrics));
	return key ? key : "nothing";
}

static int refuse_metric(const struct compare_runs *runs, const struct compare_point *p, size_t run, struct err *e)
{
	bool same_quantity = false;
	const char *other = nearest_metric(metrics_of(p, run), p->metric, &same_quantity);

	return err_set(e, -EINVAL, STATUS_USAGE, runs->run[run].run.path, "compare",
		       "point %" JSON_INTEGER_FORMAT " has no %s, but %s%s",
		       json_integer_value(json_object_get(p->of_run[run], "id")), p->metric, other,
		       same_quantity ? ": different units" : "");
}

/* The values of the metric in a run: the statistics of a series, or a block. */
static const json_t *metric_values(const struct compare_point *p, size_t run)
{
	const json_t *values = json_object_get(metrics_of(p, run), p->metric);

	return values || !compare_quantity_block(p->metric) ? values : json_object_get(p->of_run[run], p->metric);
}

/* The first metric of its flow in the first run that counts; NULL: none does. */
static char *first_metric(const struct compare_runs *runs, const struct compare_point *p)
{
	const char *key;
	json_t *values;

	for (size_t i = 0; i < runs->count; i++) {
		if (!p->of_run[i] || !counts(p, i))
			continue;
		json_object_foreach ((json_t *)metrics_of(p, i), key, values)
			if (flows_owns(p->flow, key))
				return fs_path("%s", key);
	}
	return NULL;
}

/* All runs that count must have the metric. */
static int check_metric(const struct compare_runs *runs, const struct compare_point *p, struct err *e)
{
	for (size_t i = 0; p->metric && i < runs->count; i++)
		if (p->of_run[i] && counts(p, i) && !metric_values(p, i))
			return refuse_metric(runs, p, i, e);
	return 0;
}

/* --- values --- */

static void leave_out(struct compare_point *p, const struct compare_run *run, size_t i)
{
	const char *reason = json_string_value(json_array_get(json_object_get(p->of_run[i], "reasons"), 0));
	json_t *text = json_string(!p->of_run[i] ? "the run has no such point"
				   : reason	 ? reason
						 : "nothing was measured");
	const json_t *said;
	size_t k;

	p->left_out[run->arm]++;
	json_array_foreach (p->reasons, k, said) {
		if (json_equal(said, text)) {
			json_decref(text);
			return;
		}
	}
	json_array_append_new(p->reasons, text);
}

static const json_t *metric_number(const struct compare_point *p, size_t run, const struct compare_values *v)
{
	return json_object_get(metric_values(p, run), v->of.key);
}

/* Does every run that counts have a number, and are logarithms possible? */
static bool look_at(const struct compare_runs *runs, const struct compare_point *p, struct compare_values *v)
{
	bool any = false;

	v->logarithms = v->of.measure != MEASURE_SHARE;
	v->messages = INFINITY;
	for (size_t i = 0; i < runs->count; i++) {
		const json_t *number = metric_number(p, i, v), *n = json_object_get(metric_values(p, i), "n");

		if (!counts(p, i))
			continue;
		if (!json_is_number(number)) {
			v->why = compare_quantity_block(p->metric) ? "a run has no value"
								   : "a run has fewer than 20 messages beyond it";
			return false;
		}
		any = true;
		v->logarithms &= json_number_value(number) > 0;
		if (n)
			v->messages = fmin(v->messages, json_number_value(n));
	}
	if (!any)
		v->why = "no run has valid numbers of it";
	return any;
}

/* Sums over the runs of a unit. */
struct sums {
	double n, sum, squares;
};

static void add_to(struct sums *s, double value)
{
	s->n++;
	s->sum += value;
	s->squares += value * value;
}

/* Sum of the squared distances from the mean. */
static double spread_of(const struct sums *s)
{
	return s->n > 0 ? fmax(0, s->squares - s->sum * s->sum / s->n) : 0;
}

/* Compute the means of units, and the standard deviations between units of an arm and runs of a unit. */
static void sum_up(const struct compare_runs *runs, struct compare_values *v, const struct sums *of_unit)
{
	size_t all = runs->units[ARM_BASE] + runs->units[ARM_WITH];
	double within = 0, within_df = 0, between = 0, between_df = 0;
	struct sums arm[ARMS] = {0};

	for (size_t u = 0; u < all; u++) {
		const struct sums *s = &of_unit[u];

		v->value[u] = s->n > 0 ? s->sum / s->n : NAN;
		if (s->n > 0)
			add_to(&arm[u >= runs->units[ARM_BASE]], v->value[u]);
		within += spread_of(s);
		within_df += s->n > 0 ? s->n - 1 : 0;
	}
	for (size_t a = 0; a < ARMS; a++) {
		between += spread_of(&arm[a]);
		between_df += arm[a].n > 0 ? arm[a].n - 1 : 0;
		v->level[a] = arm[a].n > 0 ? arm[a].sum / arm[a].n : NAN;
		if (v->logarithms)
			v->level[a] = exp(v->level[a]);
	}
	v->stdev_runs = within_df > 0 ? sqrt(within / within_df) : NAN;
	v->stdev_units = between_df > 0 ? sqrt(between / between_df) : NAN;
}

static void fill_values(const struct compare_runs *runs, const struct compare_point *p, struct compare_values *v)
{
	size_t units = runs->units[ARM_BASE] + runs->units[ARM_WITH];
	struct sums *of_unit;

	if (!look_at(runs, p, v))
		return;
	of_unit = or_abort(calloc(units + 1, sizeof(*of_unit)));
	v->value = or_abort(calloc(units + 1, sizeof(*v->value)));
	for (size_t i = 0; i < runs->count; i++) {
		double number = json_number_value(metric_number(p, i, v));

		if (counts(p, i))
			add_to(&of_unit[runs->run[i].unit], v->logarithms ? log(number) : number);
	}
	sum_up(runs, v, of_unit);
	free(of_unit);
}

/* Runs of an earlier version may not have a statistic. */
static bool any_run_has(const struct compare_runs *runs, const struct compare_point *p, const char *key)
{
	bool any = false;

	for (size_t i = 0; i < runs->count; i++) {
		if (json_object_get(metric_values(p, i), key))
			return true;
		any |= metric_values(p, i) != NULL;
	}
	return !any;
}

static void fill_quantities(const struct compare_runs *runs, struct compare_point *p, const char *const *keys,
			    size_t count)
{
	struct compare_quantity *list = compare_quantity_list(p->metric, &p->quantity_count);

	p->quantity = or_abort(calloc(p->quantity_count, sizeof(*p->quantity)));
	for (size_t q = 0; q < p->quantity_count; q++) {
		struct compare_values *v = &p->quantity[q];

		v->of = list[q];
		if ((count && !compare_is_among(v->of.key, keys, count)) || !any_run_has(runs, p, v->of.key))
			v->why = "";
		else
			fill_values(runs, p, v);
	}
	free(list);
}

int compare_point_fill(struct compare_point *p, const struct compare_runs *runs, const char *const *keys, size_t count,
		       struct err *e)
{
	int rc;

	if (!p->metric)
		p->metric = first_metric(runs, p);
	rc = check_metric(runs, p, e);
	for (size_t i = 0; !rc && i < runs->count; i++)
		if (!counts(p, i))
			leave_out(p, &runs->run[i], i);
	if (!rc)
		fill_quantities(runs, p, keys, count);
	return rc;
}

double compare_point_number(const struct compare_point *p, size_t run, const struct compare_values *v)
{
	const json_t *number = counts(p, run) ? metric_number(p, run, v) : NULL;

	return json_is_number(number) ? json_number_value(number) : NAN;
}

double compare_share(const struct compare_values *v, double difference)
{
	if (v->logarithms)
		return expm1(difference);
	return v->level[ARM_BASE] != 0 ? difference / fabs(v->level[ARM_BASE]) : NAN;
}

double compare_amount(const struct compare_values *v, double difference)
{
	return v->logarithms ? v->level[ARM_BASE] * expm1(difference) : difference;
}

json_t *compare_point_not_compared(const struct compare_point *p)
{
	json_t *list = json_array();

	for (size_t q = 0; q < p->quantity_count; q++)
		if (p->quantity[q].why && *p->quantity[q].why)
			json_array_append_new(list, json_pack("{s:s, s:s}", "quantity", p->quantity[q].of.key, "why",
							      p->quantity[q].why));
	return list;
}
