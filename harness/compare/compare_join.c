#include "compare/compare_join.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/param.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "rundir/flows.h"

#define NAME_MAX_ 64

static bool is_name_among(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* --- joining --- */

/* A setting may be named with its unit or without: "size_bytes", "size"; of a flow, or without its
 * name: of all flows. */
static bool is_ignored(const char *key, const struct compare_choice *choice)
{
	char name[NAME_MAX_];
	const char *const forms[] = {key, name, flows_bare_key(key), flows_bare_key(name)};
	bool found = false;

	param_name_unit(key, name, sizeof(name));
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		found |= is_name_among(forms[i], choice->ignore, choice->ignore_count);
	return found;
}

static char *key_of(const json_t *params, const struct compare_choice *choice)
{
	json_t *kept = json_object(), *value;
	const char *name;
	char *text;

	json_object_foreach ((json_t *)params, name, value) {
		if (!is_ignored(name, choice))
			json_object_set(kept, name, value);
	}
	text = json_dumps(kept, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(kept);
	if (!text)
		abort();
	return text;
}

static struct compare_point *new_point(struct compare_join *j, const json_t *point)
{
	struct compare_point *p;

	j->point = or_abort(realloc(j->point, (j->count + 1) * sizeof(*j->point)));
	p = &j->point[j->count++];
	*p = (struct compare_point){
	    .params = json_object_get(point, "params"),
	    .id = json_integer_value(json_object_get(point, "id")),
	    .flow = fs_path("%s", ""),
	    .of_run = or_abort(calloc(j->runs->count, sizeof(*p->of_run))),
	    .reasons = json_array(),
	};
	return p;
}

static int join_point(struct compare_join *j, json_t *index, size_t run, const json_t *point,
		      const struct compare_choice *choice, struct err *e)
{
	char *key = key_of(json_object_get(point, "params"), choice);
	const json_t *at = json_object_get(index, key);
	size_t i = at ? (size_t)json_integer_value(at) : j->count;

	if (!at) {
		new_point(j, point);
		json_object_set_new(index, key, json_integer((json_int_t)i));
	}
	free(key);
	if (j->point[i].of_run[run])
		return err_set(e, -EINVAL, STATUS_USAGE, j->runs->run[run].run.path, "compare",
			       "its points %" JSON_INTEGER_FORMAT " and %" JSON_INTEGER_FORMAT
			       " have the same settings, but for those ignored; ignore fewer",
			       json_integer_value(json_object_get(j->point[i].of_run[run], "id")),
			       json_integer_value(json_object_get(point, "id")));
	j->point[i].of_run[run] = point;
	return 0;
}

static int join_all(struct compare_join *j, const struct compare_choice *choice, struct err *e)
{
	json_t *index = json_object();
	int rc = 0;

	for (size_t run = 0; run < j->runs->count; run++) {
		const json_t *points = json_object_get(j->runs->run[run].run.summary, "points"), *point;
		size_t i;

		json_array_foreach (points, i, point) {
			if (!rc)
				rc = join_point(j, index, run, point, choice, e);
		}
	}
	json_decref(index);
	return rc;
}

static bool arm_has(const struct compare_join *j, const struct compare_point *p, enum compare_arm arm)
{
	for (size_t i = 0; i < j->runs->count; i++)
		if (j->runs->run[i].arm == arm && p->of_run[i])
			return true;
	return false;
}

static void join_point_free(struct compare_point *p)
{
	for (size_t q = 0; q < p->quantity_count; q++)
		free(p->quantity[q].value);
	free(p->quantity);
	free(p->flow);
	free(p->metric);
	free(p->of_run);
	json_decref(p->reasons);
}

/* The settings in which two points without a partner differ: what a reader needs to know. */
static char *difference_of(const json_t *a, const json_t *b)
{
	char *text = NULL, name[NAME_MAX_], one[NAME_MAX_], other[NAME_MAX_];
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)a, key, value) {
		const json_t *there = json_object_get(b, key);
		enum unit unit = param_name_unit(key, name, sizeof(name));
		char *longer;

		if (there && json_equal(there, value))
			continue;
		longer = fs_path("%s%s%s %s and %s", text ? text : "", text ? ", " : "", name,
				 param_value_text(value, unit, one, sizeof(one)),
				 param_value_text(there, unit, other, sizeof(other)));
		free(text);
		text = longer;
	}
	return text ? text : fs_path("a setting that only one has");
}

static int refuse_disjoint(const struct compare_join *j, struct err *e)
{
	const struct compare_point *first[ARMS] = {NULL};
	char *text;
	int rc;

	for (size_t i = 0; i < j->count; i++)
		for (enum compare_arm arm = 0; arm < ARMS; arm++)
			if (!first[arm] && arm_has(j, &j->point[i], arm))
				first[arm] = &j->point[i];
	if (!first[ARM_BASE] || !first[ARM_WITH])
		return err_set(e, -ENOENT, STATUS_USAGE, NULL, "compare", "there are no points");
	text = difference_of(first[ARM_BASE]->params, first[ARM_WITH]->params);
	rc = err_set(e, -ENOENT, STATUS_USAGE, NULL, "compare",
		     "BASE and NEW have no point in common: their settings differ, first in %s; what need not agree is "
		     "told by --ignore",
		     text);
	free(text);
	return rc;
}

/* Points of one arm alone are noted and left out. */
static int keep_common(struct compare_join *j, struct err *e)
{
	size_t kept = 0, alone[ARMS] = {0};

	if (!j->runs->units[ARM_WITH])
		return 0;
	for (size_t i = 0; i < j->count; i++)
		kept += arm_has(j, &j->point[i], ARM_BASE) && arm_has(j, &j->point[i], ARM_WITH);
	if (!kept)
		return refuse_disjoint(j, e);
	kept = 0;
	for (size_t i = 0; i < j->count; i++) {
		bool base = arm_has(j, &j->point[i], ARM_BASE), with = arm_has(j, &j->point[i], ARM_WITH);

		if (base && with) {
			j->point[kept++] = j->point[i];
			continue;
		}
		alone[base ? ARM_BASE : ARM_WITH]++;
		join_point_free(&j->point[i]);
	}
	j->count = kept;
	for (enum compare_arm arm = 0; arm < ARMS; arm++)
		if (alone[arm])
			json_array_append_new(j->notes,
					      json_sprintf("%zu point%s only in %s, and not compared", alone[arm],
							   alone[arm] == 1 ? " is" : "s are", compare_arm_name[arm]));
	return 0;
}

/* --- values --- */

static const json_t *metrics_of(const struct compare_point *p, size_t run)
{
	return json_object_get(p->of_run[run], "metrics");
}

/* Valid, and measured. */
static bool counts(const struct compare_point *p, size_t run)
{
	return json_is_true(json_object_get(p->of_run[run], "valid")) && json_object_size(metrics_of(p, run));
}

/* Of a run's metrics the one that is this but for its unit ("lat_us" for "lat_ns"), else the
 * first. */
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

static int refuse_metric(const struct compare_join *j, const struct compare_point *p, size_t run, struct err *e)
{
	bool same_quantity = false;
	const char *other = nearest_metric(metrics_of(p, run), p->metric, &same_quantity);

	return err_set(e, -EINVAL, STATUS_USAGE, j->runs->run[run].run.path, "compare",
		       "point %" JSON_INTEGER_FORMAT " has no %s, but %s%s",
		       json_integer_value(json_object_get(p->of_run[run], "id")), p->metric, other,
		       same_quantity ? ": different units" : "");
}

/* What a run says of the metric: a series' statistics, or a block. */
static const json_t *metric_values(const struct compare_point *p, size_t run)
{
	const json_t *values = json_object_get(metrics_of(p, run), p->metric);

	return values || !compare_quantity_block(p->metric) ? values : json_object_get(p->of_run[run], p->metric);
}

/* The first of its flow's, in the first run that counts; NULL: none does. */
static char *first_metric(const struct compare_join *j, const struct compare_point *p)
{
	const char *key;
	json_t *values;

	for (size_t i = 0; i < j->runs->count; i++) {
		if (!p->of_run[i] || !counts(p, i))
			continue;
		json_object_foreach ((json_t *)metrics_of(p, i), key, values)
			if (flows_owns(p->flow, key))
				return fs_path("%s", key);
	}
	return NULL;
}

/* All runs must have it. */
static int check_metric(const struct compare_join *j, const struct compare_point *p, struct err *e)
{
	for (size_t i = 0; p->metric && i < j->runs->count; i++)
		if (p->of_run[i] && counts(p, i) && !metric_values(p, i))
			return refuse_metric(j, p, i, e);
	return 0;
}

static void leave_out(struct compare_point *p, const struct compare_run *run, size_t i)
{
	const char *reason = json_string_value(json_array_get(json_object_get(p->of_run[i], "reasons"), 0));
	json_t *text = json_string(!p->of_run[i] ? "the run does not have it"
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

/* Is there a number in every run that counts, and of which kind? */
static bool look_at(const struct compare_join *j, const struct compare_point *p, struct compare_values *v)
{
	bool any = false;

	v->logarithms = v->of.measure != MEASURE_SHARE;
	v->messages = INFINITY;
	for (size_t i = 0; i < j->runs->count; i++) {
		const json_t *number = metric_number(p, i, v), *n = json_object_get(metric_values(p, i), "n");

		if (!counts(p, i))
			continue;
		if (!json_is_number(number)) {
			v->why = compare_quantity_block(p->metric)
				     ? "a run has no value of it"
				     : "too few messages in a run: fewer than 20 beyond it";
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

/* Squared distances from the mean. */
static double spread_of(const struct sums *s)
{
	return s->n > 0 ? fmax(0, s->squares - s->sum * s->sum / s->n) : 0;
}

/* Means of the units, and how much units of an arm and runs of a unit differ. */
static void sum_up(const struct compare_join *j, struct compare_values *v, const struct sums *of_unit)
{
	size_t all = j->runs->units[ARM_BASE] + j->runs->units[ARM_WITH];
	double runs = 0, runs_df = 0, units = 0, units_df = 0;
	struct sums arm[ARMS] = {0};

	for (size_t u = 0; u < all; u++) {
		const struct sums *s = &of_unit[u];

		v->value[u] = s->n > 0 ? s->sum / s->n : NAN;
		if (s->n > 0)
			add_to(&arm[u >= j->runs->units[ARM_BASE]], v->value[u]);
		runs += spread_of(s);
		runs_df += s->n > 0 ? s->n - 1 : 0;
	}
	for (size_t a = 0; a < ARMS; a++) {
		units += spread_of(&arm[a]);
		units_df += arm[a].n > 0 ? arm[a].n - 1 : 0;
		v->level[a] = arm[a].n > 0 ? arm[a].sum / arm[a].n : NAN;
		if (v->logarithms)
			v->level[a] = exp(v->level[a]);
	}
	v->stdev_runs = runs_df > 0 ? sqrt(runs / runs_df) : NAN;
	v->stdev_units = units_df > 0 ? sqrt(units / units_df) : NAN;
}

static void fill_values(const struct compare_join *j, const struct compare_point *p, struct compare_values *v)
{
	size_t units = j->runs->units[ARM_BASE] + j->runs->units[ARM_WITH];
	struct sums *of_unit;

	if (!look_at(j, p, v))
		return;
	of_unit = calloc(units + 1, sizeof(*of_unit));
	v->value = calloc(units + 1, sizeof(*v->value));
	if (!of_unit || !v->value)
		abort();
	for (size_t i = 0; i < j->runs->count; i++) {
		double number = json_number_value(metric_number(p, i, v));

		if (counts(p, i))
			add_to(&of_unit[j->runs->run[i].unit], v->logarithms ? log(number) : number);
	}
	sum_up(j, v, of_unit);
	free(of_unit);
}

static void fill_quantities(const struct compare_join *j, struct compare_point *p, const struct compare_choice *choice)
{
	struct compare_quantity *list = compare_quantity_list(p->metric, &p->quantity_count);

	p->quantity = or_abort(calloc(p->quantity_count, sizeof(*p->quantity)));
	for (size_t q = 0; q < p->quantity_count; q++) {
		struct compare_values *v = &p->quantity[q];

		v->of = list[q];
		if (choice->quantity_count && !is_name_among(v->of.key, choice->quantity, choice->quantity_count))
			v->why = "";
		else
			fill_values(j, p, v);
	}
	free(list);
}

static int fill_point(struct compare_join *j, struct compare_point *p, const struct compare_choice *choice,
		      struct err *e)
{
	int rc;

	if (!p->metric)
		p->metric = first_metric(j, p);
	rc = check_metric(j, p, e);
	for (size_t i = 0; !rc && i < j->runs->count; i++)
		if (!counts(p, i))
			leave_out(p, &j->runs->run[i], i);
	if (!rc)
		fill_quantities(j, p, choice);
	return rc;
}

/* --- flows --- */

/* Does a flow have this metric, in any run? */
static bool has_metric(const struct compare_join *j, const struct compare_point *p, const char *metric)
{
	for (size_t i = 0; i < j->runs->count; i++)
		if (json_object_get(metrics_of(p, i), metric) ||
		    (compare_quantity_block(metric) && json_object_get(p->of_run[i], metric)))
			return true;
	return false;
}

static struct compare_point copy_for_flow(const struct compare_join *j, const struct compare_point *p, const char *flow)
{
	struct compare_point copy = *p;
	size_t size = j->runs->count * sizeof(*p->of_run);

	copy.flow = fs_path("%s", flow);
	copy.of_run = memcpy(or_abort(malloc(size)), p->of_run, size);
	copy.reasons = json_array();
	return copy;
}

/* The flows of a point that have the metric asked for, each as a point of its own; none: the first,
 * which will say so. */
static void split_point(const struct compare_join *j, struct compare_point *p, const json_t *names, const char *asked,
			struct compare_join *to)
{
	const json_t *name;
	size_t i, before = to->count;

	json_array_foreach (names, i, name) {
		const char *flow = json_string_value(name);
		struct compare_point one = copy_for_flow(j, p, flow);
		char key[FLOWS_KEY_MAX];
		bool last = i + 1 == json_array_size(names) && to->count == before;

		if (asked)
			one.metric =
			    fs_path("%s", flows_owns("", asked) ? flows_key(flow, asked, key, sizeof(key)) : asked);
		if (asked && !last && !(flows_owns(flow, one.metric) && has_metric(j, p, one.metric))) {
			join_point_free(&one);
			continue;
		}
		to->point = grow_or_abort(to->point, to->count, sizeof(*to->point));
		to->point[to->count++] = one;
	}
	join_point_free(p);
}

static void split_flows(struct compare_join *j, const char *asked)
{
	struct compare_join to = {.runs = j->runs, .notes = j->notes};

	for (size_t i = 0; i < j->count; i++) {
		json_t *names = flows_names(j->point[i].params);

		split_point(j, &j->point[i], names, asked, &to);
		json_decref(names);
	}
	free(j->point);
	*j = to;
}

int compare_join(struct compare_join *j, const struct compare_runs *runs, const struct compare_choice *choice,
		 struct err *e)
{
	int rc;

	*j = (struct compare_join){.runs = runs, .notes = json_array()};
	rc = join_all(j, choice, e) ?: keep_common(j, e);
	if (!rc)
		split_flows(j, choice->metric);
	for (size_t i = 0; !rc && i < j->count; i++)
		rc = fill_point(j, &j->point[i], choice, e);
	return rc;
}

void compare_join_free(struct compare_join *j)
{
	for (size_t i = 0; i < j->count; i++)
		join_point_free(&j->point[i]);
	free(j->point);
	json_decref(j->notes);
	*j = (struct compare_join){0};
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
