#include "analysis/statistics.h"

#include <string.h>

/*
 * Small changes are detected by the median; statistics that vary more must stand out more. So
 * statistics of the tail have a weight of 0.6, which leaves most of the permitted error to the
 * median; docs/compare.md has measurements.
 */
#define TAIL_WEIGHT 0.6

static json_t *integer_or_null(bool known, int64_t value)
{
	return known ? json_integer(value) : json_null();
}

static json_t *real_or_null(bool known, double value)
{
	return known ? json_real(value) : json_null();
}

static json_t *get_n(const struct stats *s, unsigned q)
{
	(void)q;
	return json_integer((json_int_t)s->n);
}

static json_t *get_lost(const struct stats *s, unsigned q)
{
	(void)q;
	return json_integer((json_int_t)s->lost);
}

static json_t *get_min(const struct stats *s, unsigned q)
{
	(void)q;
	return integer_or_null(s->n, s->min);
}

static json_t *get_quantile(const struct stats *s, unsigned q)
{
	return integer_or_null(s->has_quantile[q], s->quantile[q]);
}

static json_t *get_max(const struct stats *s, unsigned q)
{
	(void)q;
	return integer_or_null(s->n, s->max);
}

static json_t *get_mean(const struct stats *s, unsigned q)
{
	(void)q;
	return real_or_null(s->n, s->mean);
}

static json_t *get_stdev(const struct stats *s, unsigned q)
{
	(void)q;
	return real_or_null(s->n, s->stdev);
}

static json_t *get_p90_p10(const struct stats *s, unsigned q)
{
	int64_t spread;

	(void)q;
	if (__builtin_sub_overflow(s->quantile[Q90], s->quantile[Q10], &spread))
		spread = INT64_MAX;
	return integer_or_null(s->has_quantile[Q90] && s->has_quantile[Q10], spread);
}

static json_t *get_over_limit(const struct stats *s, unsigned q)
{
	(void)q;
	return real_or_null(s->n, s->over_limit);
}

const struct statistic statistics[STATISTICS] = {
#define STATISTIC(id, name, getter, ...)                                                                               \
	[STATISTIC_##id] = {.key = name, .quantile = QUANTILES, .get = getter, __VA_ARGS__},
#define QUANTILE(id, name, millionths, ...)                                                                            \
	[STATISTIC_P##id] = {.key = "p" #id, .label = name, .quantile = Q##id, .get = get_quantile, __VA_ARGS__},
#include "analysis/statistics.def"
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

json_t *statistics_json(const struct stats *s)
{
	json_t *all = json_object();

	for (size_t i = 0; i < STATISTICS; i++)
		json_object_set_new(all, statistics[i].key, statistics[i].get(s, statistics[i].quantile));
	return all;
}
