#include "judge/compare/compare_point.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "files/rundir/flows.h"
#include "judge/analysis/param.h"
#include "judge/analysis/summary.h"

/* --- quantities --- */

static bool is_comparable(const struct block *b)
{
	for (const struct block_statistic *s = b->statistics; s->key; s++)
		if (s->worse)
			return true;
	return false;
}

const struct block *compare_quantity_block(const char *metric)
{
	const struct block *block = metric ? block_find(flows_bare_key(metric)) : NULL;

	return block && is_comparable(block) ? block : NULL;
}

/* For rates ("x_hz") less is worse; for times, more. */
static bool is_rate(const char *metric)
{
	char name[32];

	return metric && param_name_unit(metric, name, sizeof(name)) == UNIT_RATE_HZ;
}

static void add_quantity(struct compare_quantity **list, size_t *count, struct compare_quantity q)
{
	*list = grow_or_abort(*list, *count, sizeof(**list));
	(*list)[(*count)++] = q;
}

static struct compare_quantity quantity_of(const struct statistic *s, bool less_is_worse)
{
	return (struct compare_quantity){
	    .key = s->key,
	    .label = s->label,
	    .measure = s->measure,
	    .weight = s->weight,
	    .less_is_worse = less_is_worse,
	    .margin = s->margin,
	    .margin_own = s->margin_own,
	    .beyond = s->quantile < QUANTILES ? 1 - quantile_millionths[s->quantile] / 1e6 : 0,
	};
}

struct compare_quantity *compare_quantity_list(const char *metric, size_t *count)
{
	const struct block *block = compare_quantity_block(metric);
	struct compare_quantity *list = NULL;

	*count = 0;
	for (const struct block_statistic *s = block ? block->statistics : NULL; s && s->key; s++)
		if (s->worse)
			add_quantity(&list, count,
				     (struct compare_quantity){.key = s->key,
							       .label = s->label,
							       .measure = s->measure,
							       .weight = 1,
							       .less_is_worse = s->worse < 0,
							       .margin = COMPARE_MARGIN});
	for (size_t i = 0; !block && i < STATISTICS; i++)
		if (statistics[i].weight > 0)
			add_quantity(&list, count, quantity_of(&statistics[i], is_rate(metric)));
	return list;
}

char *compare_quantity_split(const char *metric, const char **quantity)
{
	const char *dot = metric ? strrchr(metric, '.') : NULL;
	char *block = dot && !compare_quantity_block(metric) ? or_abort(strndup(metric, (size_t)(dot - metric))) : NULL;

	if (block && !compare_quantity_block(block)) {
		free(block);
		block = NULL;
	}
	if (block)
		*quantity = dot + 1;
	return block;
}

/* People write "p99.9", but "over_limit". */
static const char *written_name(const struct compare_quantity *q)
{
	return q->measure == MEASURE_SERIES ? q->label : q->key;
}

char *compare_quantity_names(const char *metric, const char *last)
{
	size_t count;
	struct compare_quantity *list = compare_quantity_list(metric, &count);
	char *names = fs_path("%s", "");

	for (size_t i = 0; i < count; i++) {
		char *longer = fs_path("%s%s%s", names, !i ? "" : i + 1 < count ? ", " : last, written_name(&list[i]));

		free(names);
		names = longer;
	}
	free(list);
	return names;
}

int compare_quantity_find(const char *flag, const char *metric, const char *name, const char **key, struct err *e)
{
	size_t count;
	struct compare_quantity *list = compare_quantity_list(metric, &count);
	char *names = compare_quantity_names(metric, ", ");
	int rc;

	*key = NULL;
	for (size_t i = 0; i < count; i++)
		if (!strcmp(list[i].key, name) || !strcmp(written_name(&list[i]), name))
			*key = list[i].key;
	rc = *key ? 0 : err_set(e, -EINVAL, STATUS_USAGE, flag, NULL, "must be one of %s, not '%s'", names, name);
	free(names);
	free(list);
	return rc;
}

const char *compare_quantity_label(const char *key)
{
	for (size_t i = 0; blocks[i]; i++) {
		const struct block_statistic *s = block_statistic_find(blocks[i], key);

		if (s)
			return s->label;
	}
	return statistic_label(key);
}

const char *compare_quantity_unit(const struct compare_quantity *q, const char *metric)
{
	static const char *const units[] = {
	    [MEASURE_SHARE] = "share",	     [MEASURE_COUNT] = "", [MEASURE_RATE] = "hz", [MEASURE_BYTES] = "bytes",
	    [MEASURE_BYTE_RATE] = "bytes/s", [MEASURE_RATIO] = ""};
	const char *tail = strrchr(metric, '_');

	if (q->measure == MEASURE_SERIES)
		return tail ? tail + 1 : "";
	return units[q->measure];
}

const char *compare_quantity_rounded(double value, char *text, size_t size)
{
	snprintf(text, size, fabs(value) < 99.5 ? "%.2g" : "%.0f", value);
	return text;
}

/* --- points --- */

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

/* Is the point valid and measured in this run? */
static bool counts(const struct compare_point *p, size_t run)
{
	const struct summary_point *of = p->of_run[run];

	return of && of->valid && of->results.metric_count;
}

/* Does a run have the metric: a series, or a block that can be compared? None (NULL), no run has. */
static bool has_metric(const struct summary_point *of, const char *metric)
{
	const struct block *block = compare_quantity_block(metric);

	if (!of || !metric)
		return false;
	if (summary_metric_named(&of->results, metric))
		return true;
	for (size_t i = 0; block && i < of->results.block_count; i++)
		if (of->results.blocks[i].of == block && flows_owns(of->results.blocks[i].flow, metric))
			return true;
	return false;
}

bool compare_point_has(const struct compare_point *p, const struct compare_runs *runs, const char *metric)
{
	for (size_t i = 0; i < runs->count; i++)
		if (has_metric(p->of_run[i], metric))
			return true;
	return false;
}

/* The metric of a run that only differs in its unit ("lat_us" for "lat_ns"); otherwise the first one. */
static const char *nearest_metric(const struct summary_results *r, const char *wanted, bool *same_quantity)
{
	const char *end = strrchr(wanted, '_');

	for (size_t i = 0; i < r->metric_count; i++) {
		const char *name = r->metrics[i].name, *tail = strrchr(name, '_');

		*same_quantity =
		    end && tail && end - wanted == tail - name && !strncmp(name, wanted, (size_t)(end - wanted));
		if (*same_quantity)
			return name;
	}
	return r->metric_count ? r->metrics[0].name : "nothing";
}

static int refuse_metric(const struct compare_runs *runs, const struct compare_point *p, size_t run, struct err *e)
{
	bool same_quantity = false;
	const char *other = nearest_metric(&p->of_run[run]->results, p->metric, &same_quantity);

	return err_set(e, -EINVAL, STATUS_USAGE, runs->run[run].run.path, "compare",
		       "point %" JSON_INTEGER_FORMAT " has no %s, but %s%s", p->of_run[run]->id, p->metric, other,
		       same_quantity ? ": different units" : "");
}

/* The first metric of its flow in the first run that counts; NULL: none does. */
static char *first_metric(const struct compare_runs *runs, const struct compare_point *p)
{
	for (size_t i = 0; i < runs->count; i++) {
		const struct summary_metric *m =
		    counts(p, i) ? summary_find_metric(&p->of_run[i]->results, p->flow, NULL) : NULL;

		if (m)
			return fs_path("%s", m->name);
	}
	return NULL;
}

/* All runs that count must have the metric. */
static int check_metric(const struct compare_runs *runs, const struct compare_point *p, struct err *e)
{
	for (size_t i = 0; p->metric && i < runs->count; i++)
		if (counts(p, i) && !has_metric(p->of_run[i], p->metric))
			return refuse_metric(runs, p, i, e);
	return 0;
}

/* --- values --- */

static void leave_out(struct compare_point *p, const struct compare_run *run, size_t i)
{
	const struct summary_point *of = p->of_run[i];
	const char *reason = of ? json_string_value(json_array_get(of->reasons, 0)) : "the run has no such point";
	json_t *text = json_string(reason ? reason : "nothing was measured");
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

static struct number metric_number(const struct compare_point *p, size_t run, const struct compare_values *v)
{
	if (!p->of_run[run] || !p->metric)
		return (struct number){.kind = NUMBER_ABSENT};
	return summary_number(&p->of_run[run]->results, p->metric, v->of.key);
}

/* How many messages a series has in a run; infinitely many for a block. */
static double series_messages(const struct compare_point *p, size_t run)
{
	const struct summary_metric *m = summary_metric_named(&p->of_run[run]->results, p->metric);

	return m ? number_or_zero(m->values[STATISTIC_N]) : INFINITY;
}

/* Does every run that counts have a number, and are logarithms possible? */
static bool look_at(const struct compare_runs *runs, const struct compare_point *p, struct compare_values *v)
{
	bool any = false;

	v->logarithms = v->of.measure != MEASURE_SHARE;
	v->messages = INFINITY;
	for (size_t i = 0; i < runs->count; i++) {
		double number = number_value(metric_number(p, i, v));

		if (!counts(p, i))
			continue;
		if (isnan(number)) {
			v->why = compare_quantity_block(p->metric) ? "a run has no value"
								   : "a run has fewer than 20 messages beyond it";
			return false;
		}
		any = true;
		v->logarithms &= number > 0;
		v->messages = fmin(v->messages, series_messages(p, i));
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
		double number = number_value(metric_number(p, i, v));

		if (!counts(p, i))
			continue;
		add_to(&of_unit[runs->run[i].unit], v->logarithms ? log(number) : number);
		v->counted[runs->run[i].arm] += series_messages(p, i);
	}
	sum_up(runs, v, of_unit);
	free(of_unit);
}

/* Runs of an earlier version may not have a statistic. */
static bool any_run_has(const struct compare_runs *runs, const struct compare_point *p, const char *key)
{
	bool any = false;

	for (size_t i = 0; i < runs->count; i++) {
		if (!has_metric(p->of_run[i], p->metric))
			continue;
		if (summary_number(&p->of_run[i]->results, p->metric, key).kind != NUMBER_ABSENT)
			return true;
		any = true;
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
	return counts(p, run) ? number_value(metric_number(p, run, v)) : NAN;
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
