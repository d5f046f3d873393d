#include "study/pairs/pairs_answer.h"

#include <math.h>
#include <stdlib.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/sort.h"
#include "common/units.h"
#include "judge/analysis/param.h"
#include "study/pairs/pairs_plan.h"

#define SHOWN_MAX    20
#define TO_DEVIATION 1.4826 /* standard deviation of a normal distribution, divided by its median absolute deviation */

/* --- matrices --- */

void pairs_matrix_make(struct pairs_matrix *m, size_t hosts)
{
	*m = (struct pairs_matrix){hosts, or_abort(calloc(hosts * hosts + 1, sizeof(double)))};
	for (size_t i = 0; i < hosts * hosts; i++)
		m->value[i] = NAN;
}

void pairs_matrix_set(struct pairs_matrix *m, size_t a, size_t b, double value)
{
	m->value[a * m->hosts + b] = m->value[b * m->hosts + a] = value;
}

void pairs_matrix_free(struct pairs_matrix *m)
{
	free(m->value);
	m->value = NULL;
}

/* --- robust numbers --- */

/* Values more than this above `center` stand out. */
static double threshold_of(double *x, size_t count, double center)
{
	for (size_t i = 0; i < count; i++)
		x[i] = fabs(x[i] - center);
	return fmax(PAIRS_DEVIATIONS * TO_DEVIATION * sort_median(x, count), log(PAIRS_LEAST));
}

/* The logarithms of the existing values of row `host` (or of all rows of the upper half if it is `hosts`). */
static size_t take_logs(const struct pairs_matrix *m, const double *excess, size_t host, double *out)
{
	size_t count = 0;

	for (size_t a = 0; a < m->hosts; a++)
		for (size_t b = host < m->hosts ? 0 : a + 1; b < m->hosts; b++) {
			const double value = m->value[a * m->hosts + b];

			if (a != b && (host == m->hosts || a == host) && value > 0)
				out[count++] = log(value) - excess[a] - excess[b];
		}
	return count;
}

/* --- what stands out --- */

static void judge_hosts(const struct pairs_matrix *m, struct pairs_verdict *v, double *excess, double *work)
{
	double *own = or_abort(calloc(m->hosts + 1, sizeof(*own)));
	size_t known = 0;
	double center, threshold;

	for (size_t i = 0; i < m->hosts; i++)
		own[i] = sort_median(work, take_logs(m, excess, i, work));
	for (size_t i = 0; i < m->hosts; i++)
		if (!isnan(own[i]))
			work[known++] = own[i];
	center = sort_median(work, known);
	threshold = threshold_of(work, known, center);
	for (size_t i = 0; known >= PAIRS_HOSTS_LEAST && i < m->hosts; i++)
		if (own[i] - center > threshold) {
			excess[i] = own[i] - center;
			v->host[i] = exp(excess[i]);
			v->slow_hosts++;
		}
	free(own);
}

static void judge_each_pair(const struct pairs_matrix *m, struct pairs_verdict *v, const double *excess, double *work)
{
	const size_t count = take_logs(m, excess, m->hosts, work);
	const double center = sort_median(work, count), threshold = threshold_of(work, count, center);

	for (size_t a = 0; a < m->hosts; a++)
		for (size_t b = a + 1; b < m->hosts; b++) {
			const double above = log(m->value[a * m->hosts + b]) - excess[a] - excess[b] - center;

			if (!(above > threshold))
				continue;
			v->pair[a * m->hosts + b] = v->pair[b * m->hosts + a] = exp(above);
			v->slow_pairs++;
		}
}

void pairs_judge(const struct pairs_matrix *m, struct pairs_verdict *v)
{
	const size_t cells = m->hosts * m->hosts;
	double *excess = or_abort(calloc(m->hosts + 1, sizeof(*excess)));
	double *work = or_abort(calloc(cells + 1, sizeof(*work)));

	*v = (struct pairs_verdict){.host = or_abort(calloc(m->hosts + 1, sizeof(double))),
				    .pair = or_abort(calloc(cells + 1, sizeof(double)))};
	v->pairs = take_logs(m, excess, m->hosts, work);
	v->median = exp(sort_median(work, v->pairs));
	judge_hosts(m, v, excess, work);
	judge_each_pair(m, v, excess, work);
	free(excess);
	free(work);
}

void pairs_verdict_free(struct pairs_verdict *v)
{
	free(v->host);
	free(v->pair);
}

const char *const pairs_quantiles[PAIRS_QUANTILES] = {[PAIRS_P50] = "p50", [PAIRS_P99] = "p99"};

static const char *host_text(const struct study *s, size_t host)
{
	return s->hosts.item[host].name;
}

/* --- the answer --- */

void pairs_answer_matrix(const struct study *s, size_t point, enum pairs_quantile quantile, struct pairs_matrix *m)
{
	pairs_matrix_make(m, s->hosts.count);
	for (size_t i = 0; i < s->count; i++) {
		const struct cell *c = &s->cell[i];

		if (point < c->point_count && c->point[point].valid)
			pairs_matrix_set(m, c->source, c->sink,
					 quantile == PAIRS_P50 ? c->point[point].p50 : c->point[point].p99);
	}
}

static int by_times(const void *a, const void *b)
{
	const double x = ((const struct pairs_slow *)a)->times, y = ((const struct pairs_slow *)b)->times;

	return (x < y) - (x > y);
}

static void add_slow(struct pairs_slow **list, size_t *count, struct pairs_slow one)
{
	*list = grow_or_abort(*list, *count, sizeof(**list));
	(*list)[(*count)++] = one;
}

static void find_slow(const struct study *s, const struct pairs_matrix *m, const struct pairs_verdict *v,
		      struct pairs_statistic *of)
{
	for (size_t i = 0; i < s->hosts.count; i++)
		if (v->host[i] > 0)
			add_slow(&of->slow_host, &of->slow_hosts, (struct pairs_slow){i, i, NAN, v->host[i]});
	for (size_t i = 0; i < s->count; i++) {
		const struct cell *c = &s->cell[i];
		const size_t at = c->source * m->hosts + c->sink;

		if (v->pair[at] > 0)
			add_slow(&of->slow_pair, &of->slow_pairs,
				 (struct pairs_slow){c->source, c->sink, m->value[at], v->pair[at]});
	}
	if (of->slow_hosts)
		qsort(of->slow_host, of->slow_hosts, sizeof(*of->slow_host), by_times);
	if (of->slow_pairs)
		qsort(of->slow_pair, of->slow_pairs, sizeof(*of->slow_pair), by_times);
}

static struct pairs_statistic judge_statistic(const struct study *s, size_t point, enum pairs_quantile quantile)
{
	struct pairs_statistic of = {.pairs = 0};
	struct pairs_matrix m;
	struct pairs_verdict v;

	pairs_answer_matrix(s, point, quantile, &m);
	pairs_judge(&m, &v);
	of.pairs = v.pairs;
	of.median_ns = v.median;
	if (v.pairs)
		find_slow(s, &m, &v, &of);
	pairs_verdict_free(&v);
	pairs_matrix_free(&m);
	return of;
}

/* The list of points comes from the first pair that has measured them. */
static void judge_points(const struct study *s, struct pairs_answer *a)
{
	size_t i = 0;

	while (i < s->count && !(s->cell[i].state == CELL_COMPLETED && s->cell[i].point_count))
		i++;
	if (i == s->count)
		return;
	a->point_count = s->cell[i].point_count;
	a->point = or_abort(calloc(a->point_count, sizeof(*a->point)));
	for (size_t k = 0; k < a->point_count; k++) {
		struct pairs_point *p = &a->point[k];

		p->id = s->cell[i].point[k].id;
		p->metric = s->cell[i].point[k].metric;
		for (enum pairs_quantile q = 0; q < PAIRS_QUANTILES; q++) {
			p->of[q] = judge_statistic(s, k, q);
			a->slow_hosts += p->of[q].slow_hosts;
			a->slow_pairs += p->of[q].slow_pairs;
		}
	}
}

static bool has_invalid_point(const struct cell *c)
{
	size_t i = 0;

	while (i < c->point_count && c->point[i].valid)
		i++;
	return i < c->point_count;
}

struct pairs_answer pairs_answer(const struct study *s)
{
	struct pairs_answer a = {.measured = study_count(s, CELL_COMPLETED),
				 .failed = study_count(s, CELL_FAILED) + study_count(s, CELL_IMPOSSIBLE)};

	a.left = s->count - a.measured - a.failed;
	for (size_t i = 0; i < s->count; i++)
		a.not_valid += s->cell[i].state == CELL_COMPLETED && has_invalid_point(&s->cell[i]);
	judge_points(s, &a);
	return a;
}

void pairs_answer_free(struct pairs_answer *a)
{
	for (size_t i = 0; i < a->point_count; i++)
		for (enum pairs_quantile q = 0; q < PAIRS_QUANTILES; q++) {
			free(a->point[i].of[q].slow_host);
			free(a->point[i].of[q].slow_pair);
		}
	free(a->point);
}

bool pairs_answer_is_slow(const struct pairs_answer *a)
{
	return a->slow_hosts || a->slow_pairs;
}

/* --- as JSON --- */

static json_t *statistic_json(const struct study *s, const struct pairs_statistic *of)
{
	json_t *hosts, *pairs;

	if (!of->pairs)
		return json_null();
	hosts = json_array();
	pairs = json_array();
	for (size_t i = 0; i < of->slow_hosts; i++)
		json_array_append_new(hosts, json_pack("{s:s, s:f}", "host", host_text(s, of->slow_host[i].source),
						       "times", of->slow_host[i].times));
	for (size_t i = 0; i < of->slow_pairs; i++) {
		const struct pairs_slow *slow = &of->slow_pair[i];

		json_array_append_new(pairs, json_pack("{s:s, s:s, s:f, s:f}", "source", host_text(s, slow->source),
						       "sink", host_text(s, slow->sink), "value", slow->value_ns,
						       "times", slow->times));
	}
	return json_pack("{s:f, s:I, s:o, s:o}", "median", of->median_ns, "pairs", (json_int_t)of->pairs, "slow_hosts",
			 hosts, "slow_pairs", pairs);
}

json_t *pairs_answer_json(const struct study *s, const struct pairs_answer *a)
{
	json_t *points = json_array();

	for (size_t i = 0; i < a->point_count; i++) {
		const struct pairs_point *p = &a->point[i];
		json_t *j = json_pack("{s:I, s:s}", "id", p->id, "metric", p->metric);

		for (enum pairs_quantile q = 0; q < PAIRS_QUANTILES; q++)
			json_object_set_new(j, pairs_quantiles[q], statistic_json(s, &p->of[q]));
		json_array_append_new(points, j);
	}
	return json_pack("{s:I, s:I, s:I, s:I, s:o}", "measured", (json_int_t)a->measured, "failed",
			 (json_int_t)a->failed, "left", (json_int_t)a->left, "not_valid", (json_int_t)a->not_valid,
			 "points", points);
}

/* --- for people --- */

static void print_slow_pairs(const struct study *s, const struct pairs_statistic *of, FILE *out)
{
	char text[64];

	for (size_t i = 0; i < of->slow_pairs && i < SHOWN_MAX; i++) {
		const struct pairs_slow *slow = &of->slow_pair[i];

		fprintf(out, "    %s - %s stands out: %s, %.1f times what is usual there\n", host_text(s, slow->source),
			host_text(s, slow->sink), unit_human_ns(llround(slow->value_ns), text, sizeof(text)),
			slow->times);
	}
	if (of->slow_pairs > SHOWN_MAX)
		fprintf(out, "    and %zu more pairs\n", of->slow_pairs - SHOWN_MAX);
}

static void print_quantile(const struct study *s, const struct pairs_point *p, enum pairs_quantile q, FILE *out)
{
	const struct pairs_statistic *of = &p->of[q];
	char name[64], text[64];

	param_name_unit(p->metric, name, sizeof(name));
	fprintf(out, "  point %lld, %s %s: ", (long long)p->id, name, pairs_quantiles[q]);
	if (!of->pairs) {
		fprintf(out, "no pair has it (a quantile needs 20 messages beyond it)\n");
		return;
	}
	fprintf(out, "median %s over %zu pairs\n", unit_human_ns(llround(of->median_ns), text, sizeof(text)),
		of->pairs);
	for (size_t i = 0; i < of->slow_hosts && i < SHOWN_MAX; i++)
		fprintf(out, "    host %s stands out: its pairs take %.1f times as long as the others\n",
			host_text(s, of->slow_host[i].source), of->slow_host[i].times);
	print_slow_pairs(s, of, out);
}

void pairs_answer_table(const struct study *s, const struct pairs_answer *a, FILE *out)
{
	fprintf(out, "%s: %zu hosts, %zu pairs in %zu rounds: %zu measured, %zu failed, %zu left, %zu not valid\n",
		s->name, s->hosts.count, s->count, pairs_plan_rounds(s->hosts.count), a->measured, a->failed, a->left,
		a->not_valid);
	for (size_t i = 0; i < a->point_count; i++)
		for (enum pairs_quantile q = 0; q < PAIRS_QUANTILES; q++)
			print_quantile(s, &a->point[i], q, out);
	if (pairs_answer_is_slow(a))
		fprintf(
		    out,
		    "A pair or a host stands out if it takes %g times as long as the median and is %d robust standard\n"
		    "deviations above it; what a host explains is not counted against its pairs (docs/cluster.md).\n",
		    PAIRS_LEAST, PAIRS_DEVIATIONS);
}

char *pairs_answer_sentence(const struct pairs_answer *a)
{
	if (!a->measured)
		return fs_path("no pair was measured");
	return pairs_answer_is_slow(a) ? fs_path("%zu medians of hosts and %zu of pairs stand out from the others",
						 a->slow_hosts, a->slow_pairs)
				       : fs_path("no pair and no host stands out");
}
