#include "study/pairs/pairs_judge.h"

#include <math.h>
#include <stdlib.h>

#include "common/or_abort.h"
#include "common/sort.h"

#define TO_DEVIATION 1.4826 /* standard deviation of a normal distribution, divided by its median absolute deviation */

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

/* Sorts the values. NaN if there are none. */
static double median_of(double *x, size_t count)
{
	if (!count)
		return NAN;
	sort_doubles(x, count);
	return count % 2 ? x[count / 2] : (x[count / 2 - 1] + x[count / 2]) / 2;
}

/* Values more than this above `center` stand out. */
static double threshold_of(double *x, size_t count, double center)
{
	for (size_t i = 0; i < count; i++)
		x[i] = fabs(x[i] - center);
	return fmax(PAIRS_DEVIATIONS * TO_DEVIATION * median_of(x, count), log(PAIRS_LEAST));
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

/* --- outliers --- */

static void judge_hosts(const struct pairs_matrix *m, struct pairs_verdict *v, double *excess, double *work)
{
	double *own = or_abort(calloc(m->hosts + 1, sizeof(*own)));
	size_t known = 0;
	double center, threshold;

	for (size_t i = 0; i < m->hosts; i++)
		own[i] = median_of(work, take_logs(m, excess, i, work));
	for (size_t i = 0; i < m->hosts; i++)
		if (!isnan(own[i]))
			work[known++] = own[i];
	center = median_of(work, known);
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
	const double center = median_of(work, count), threshold = threshold_of(work, count, center);

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
	v->median = exp(median_of(work, v->pairs));
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
