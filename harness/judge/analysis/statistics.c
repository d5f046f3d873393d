#include "judge/analysis/statistics.h"

#include <math.h>
#include <string.h>

/*
 * Small changes are detected by the median; statistics that vary more must stand out more. So
 * statistics of the tail have a weight of 0.6, which leaves most of the permitted error to the
 * median; docs/compare.md has measurements.
 */
#define TAIL_WEIGHT 0.6

struct number number_none(void)
{
	return (struct number){.kind = NUMBER_NONE};
}

struct number number_integer(json_int_t value)
{
	return (struct number){.kind = NUMBER_INTEGER, .integer = value};
}

struct number number_real(double value)
{
	return isfinite(value) ? (struct number){.kind = NUMBER_REAL, .real = value} : number_none();
}

bool number_is_known(struct number n)
{
	return n.kind == NUMBER_INTEGER || n.kind == NUMBER_REAL;
}

double number_value(struct number n)
{
	return n.kind == NUMBER_INTEGER ? (double)n.integer : n.kind == NUMBER_REAL ? n.real : NAN;
}

double number_or_zero(struct number n)
{
	return number_is_known(n) ? number_value(n) : 0;
}

json_int_t number_count(struct number n)
{
	return n.kind == NUMBER_INTEGER ? n.integer : 0;
}

json_t *number_encode(struct number n)
{
	switch (n.kind) {
	case NUMBER_INTEGER:
		return json_integer(n.integer);
	case NUMBER_REAL:
		return json_real(n.real);
	case NUMBER_NONE:
		return json_null();
	case NUMBER_ABSENT:
		break;
	}
	return NULL;
}

struct number number_decode(const json_t *value)
{
	if (json_is_integer(value))
		return number_integer(json_integer_value(value));
	if (json_is_real(value))
		return number_real(json_real_value(value));
	return (struct number){.kind = value ? NUMBER_NONE : NUMBER_ABSENT};
}

/* --- statistics --- */

static struct number integer_if(bool known, int64_t value)
{
	return known ? number_integer(value) : number_none();
}

static struct number real_if(bool known, double value)
{
	return known ? number_real(value) : number_none();
}

static struct number get_n(const struct stats *s, unsigned q)
{
	(void)q;
	return number_integer((json_int_t)s->n);
}

static struct number get_lost(const struct stats *s, unsigned q)
{
	(void)q;
	return number_integer((json_int_t)s->lost);
}

static struct number get_min(const struct stats *s, unsigned q)
{
	(void)q;
	return integer_if(s->n, s->min);
}

static struct number get_quantile(const struct stats *s, unsigned q)
{
	return integer_if(s->has_quantile[q], s->quantile[q]);
}

static struct number get_max(const struct stats *s, unsigned q)
{
	(void)q;
	return integer_if(s->n, s->max);
}

static struct number get_mean(const struct stats *s, unsigned q)
{
	(void)q;
	return real_if(s->n, s->mean);
}

static struct number get_stdev(const struct stats *s, unsigned q)
{
	(void)q;
	return real_if(s->n, s->stdev);
}

static struct number get_p90_p10(const struct stats *s, unsigned q)
{
	int64_t spread;

	(void)q;
	if (__builtin_sub_overflow(s->quantile[Q90], s->quantile[Q10], &spread))
		spread = INT64_MAX;
	return integer_if(s->has_quantile[Q90] && s->has_quantile[Q10], spread);
}

static struct number get_over_limit(const struct stats *s, unsigned q)
{
	(void)q;
	return real_if(s->n, s->over_limit);
}

const struct statistic statistics[STATISTICS] = {
#define STATISTIC(id, name, getter, ...)                                                                               \
	[STATISTIC_##id] = {.key = name, .quantile = QUANTILES, .get = getter, __VA_ARGS__},
#define QUANTILE(id, name, millionths, ...)                                                                            \
	[STATISTIC_P##id] = {.key = "p" #id, .label = name, .quantile = Q##id, .get = get_quantile, __VA_ARGS__},
#include "judge/analysis/statistic_rows.def"
#undef STATISTIC
#undef QUANTILE
};

const struct statistic *statistic_find(const char *name)
{
	for (size_t i = 0; i < STATISTICS; i++)
		if (!strcmp(statistics[i].key, name) || !strcmp(statistics[i].label, name))
			return &statistics[i];
	return NULL;
}

const char *statistic_label(const char *key)
{
	const struct statistic *s = statistic_find(key);

	return s ? s->label : key;
}

void statistics_of(const struct stats *s, struct number out[STATISTICS])
{
	for (size_t i = 0; i < STATISTICS; i++)
		out[i] = statistics[i].get(s, statistics[i].quantile);
}

json_t *statistics_encode(const struct number values[STATISTICS])
{
	json_t *all = json_object();

	for (size_t i = 0; i < STATISTICS; i++)
		json_object_set_new(all, statistics[i].key, number_encode(values[i]));
	return all;
}

void statistics_decode(const json_t *object, struct number out[STATISTICS])
{
	for (size_t i = 0; i < STATISTICS; i++)
		out[i] = number_decode(json_object_get(object, statistics[i].key));
}

json_t *statistics_json(const struct stats *s)
{
	struct number values[STATISTICS];

	statistics_of(s, values);
	return statistics_encode(values);
}
