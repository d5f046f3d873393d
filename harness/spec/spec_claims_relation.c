#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/param.h"
#include "common/diag.h"
#include "common/text.h"
#include "common/units.h"
#include "common/yaml.h"
#include "point/settings.h"
#include "spec/spec_claims_read.h"

/* What a statistic is measured in: the series' unit, a share, or messages. */
enum measure { MEASURE_SERIES, MEASURE_SHARE, MEASURE_COUNT };

/* Not a series of stamps: how a pacer kept its rate. */
#define PACING "pacing"

static const struct {
	const char *name;
	enum measure measure;
	bool of_pacing;
} statistics[] = {
    {"min", MEASURE_SERIES, false},	   {"p50", MEASURE_SERIES, false},	  {"p90", MEASURE_SERIES, false},
    {"p99", MEASURE_SERIES, false},	   {"p99_9", MEASURE_SERIES, false},	  {"p99_99", MEASURE_SERIES, false},
    {"max", MEASURE_SERIES, false},	   {"mean", MEASURE_SERIES, false},	  {"stdev", MEASURE_SERIES, false},
    {"over_limit", MEASURE_SHARE, false},  {"n", MEASURE_COUNT, false},		  {"lost", MEASURE_COUNT, false},
    {"missed_share", MEASURE_SHARE, true}, {"unsent_share", MEASURE_SHARE, true}, {"achieved_hz", MEASURE_COUNT, true},
};

#define STATISTICS (sizeof(statistics) / sizeof(statistics[0]))

static int find_statistic(const char *name)
{
	for (size_t i = 0; i < STATISTICS; i++)
		if (!strcmp(statistics[i].name, name))
			return (int)i;
	return -1;
}

static bool is_series(const char *name, size_t length, const char **names, size_t max)
{
	bool found = length == strlen(PACING) && !strncmp(name, PACING, length);
	size_t count = 0;

	names[count++] = PACING;

	for (size_t k = 0; kernels[k]; k++)
		for (const struct kernel_series *s = kernels[k]->series; s->name; s++) {
			found |= strlen(s->name) == length && !strncmp(s->name, name, length);
			if (count + 1 < max)
				names[count++] = s->name;
		}
	names[count] = NULL;
	return found;
}

void claim_check_metric(struct claim_reader *r, const struct ynode *n)
{
	const char *names[64], *statistic_names[STATISTICS + 1] = {NULL}, *dot;
	char text[SUGGESTION_MAX], series[64];

	dot = n->kind == YNODE_SCALAR ? strchr(n->scalar, '.') : NULL;
	if (!dot || dot == n->scalar) {
		claim_complain(r, n, "'metric' wants SERIES.STATISTIC such as lat_ns.p50");
		return;
	}
	snprintf(series, sizeof(series), "%.*s", (int)(dot - n->scalar), n->scalar);
	if (!is_series(n->scalar, (size_t)(dot - n->scalar), names, 64))
		claim_complain(r, n, "no kernel has a series '%s'%s", series,
			       suggestion(suggest(series, names), text, sizeof(text)));
	for (size_t i = 0; i < STATISTICS; i++)
		statistic_names[i] = statistics[i].name;
	int statistic = find_statistic(dot + 1);

	if (statistic >= 0 && statistics[statistic].of_pacing != !strcmp(series, PACING))
		claim_complain(r, n, "'%s' has no '%s'", series, dot + 1);
	else if (statistic < 0)
		claim_complain(r, n, "no series has a statistic '%.32s'%s", dot + 1,
			       suggestion(suggest(dot + 1, statistic_names), text, sizeof(text)));
}

void claim_read_metric(struct claim_reader *r, const struct ynode *n)
{
	claim_check_metric(r, n);
	if (n->kind == YNODE_SCALAR)
		json_object_set_new(r->claim, "metric", json_string(n->scalar));
}

static enum measure measure_of(const json_t *claim, enum unit *unit)
{
	const char *metric = json_string_value(json_object_get(claim, "metric")),
		   *dot = metric ? strchr(metric, '.') : NULL;
	int i = dot ? find_statistic(dot + 1) : -1;
	char series[64], name[64];

	*unit = UNIT_ONE;
	if (i < 0)
		return MEASURE_COUNT;
	snprintf(series, sizeof(series), "%.*s", (int)(dot - metric), metric);
	*unit = param_name_unit(series, name, sizeof(name));
	return statistics[i].measure;
}

/* A plain number, with '%' a hundredth of it. */
static bool read_share(const char *text, double *value)
{
	char *end;

	errno = 0;
	*value = strtod(text, &end);
	if (end == text || !isfinite(*value) || strpbrk(text, "xXpP"))
		return false;
	end += strspn(end, " ");
	if (*end == '%') {
		*value /= 100;
		end++;
	}
	return !*end;
}

/* With the unit; a difference may be negative. */
static bool read_quantity(const char *text, enum unit unit, double *value)
{
	bool negative = *text == '-';
	int64_t whole;

	if (unit_parse(unit, text + negative, &whole, NULL, 0))
		return false;
	*value = (double)(negative ? -whole : whole);
	return true;
}

static json_t *read_bound(struct claim_reader *r, const struct ynode *n, bool is_ratio)
{
	enum unit unit;
	enum measure measure = measure_of(r->claim, &unit);
	bool plain = is_ratio || measure == MEASURE_SHARE || unit == UNIT_ONE || measure == MEASURE_COUNT;
	double value = 0;
	bool good =
	    n->kind == YNODE_SCALAR && (plain ? read_share(n->scalar, &value) : read_quantity(n->scalar, unit, &value));
	char quoted[TEXT_QUOTE_MAX];

	if (!good)
		claim_complain(r, n, "a bound wants %s, not %s",
			       plain		      ? "a number or per cent such as 0.5 or 50%"
			       : unit == UNIT_TIME_NS ? "a time such as 500ns"
						      : "a quantity with its unit",
			       n->kind == YNODE_SCALAR ? text_quote(n->scalar, quoted, sizeof(quoted)) : "this");
	return good ? json_real(value) : json_null();
}

static void read_bounds(struct claim_reader *r, const char *relation, const struct ynode *n)
{
	const struct ynode *min = yaml_get(n, "min"), *max = yaml_get(n, "max");
	bool is_ratio = !strcmp(relation, "ratio");

	if (n->kind != YNODE_MAPPING || (!min && !max)) {
		claim_complain(r, n, "'%s' wants {min: …, max: …}, one of them at least", relation);
		return;
	}
	for (size_t i = 0; i < n->count; i++)
		if (strcmp(n->keys[i]->scalar, "min") && strcmp(n->keys[i]->scalar, "max"))
			claim_complain(r, n->keys[i], "unknown key '%.32s' of '%s'; it wants min and max",
				       n->keys[i]->scalar, relation);
	if (min)
		json_object_set_new(r->claim, "min", read_bound(r, min, is_ratio));
	if (max)
		json_object_set_new(r->claim, "max", read_bound(r, max, is_ratio));
	if (min && max &&
	    json_real_value(json_object_get(r->claim, "min")) > json_real_value(json_object_get(r->claim, "max")))
		claim_complain(r, n, "'min' is above 'max'");
}

static void read_order(struct claim_reader *r, const struct ynode *n)
{
	static const char *const orders[] = {"rising", "falling", "flat", NULL};
	size_t i = 0;
	char text[SUGGESTION_MAX];

	if (n->kind != YNODE_SCALAR) {
		claim_complain(r, n, "'order' wants rising, falling or flat");
		return;
	}
	while (orders[i] && strcmp(orders[i], n->scalar))
		i++;
	if (!orders[i])
		claim_complain(r, n, "'order' wants rising, falling or flat%s",
			       suggestion(suggest(n->scalar, orders), text, sizeof(text)));
	json_object_set_new(r->claim, "relation", json_string(n->scalar));
}

static void read_kind(struct claim_reader *r)
{
	static const char *const relations[] = {"ratio", "difference", "value", "order"};
	const struct ynode *n = NULL, *against = yaml_get(r->node, "against");
	size_t found = 0, which = 0;

	for (size_t i = 0; i < sizeof(relations) / sizeof(relations[0]); i++) {
		const struct ynode *one = yaml_get(r->node, relations[i]);

		n = one ? one : n;
		which = one ? i : which;
		found += one != NULL;
	}
	if (found != 1) {
		claim_complain(r, r->node, "a claim wants exactly one of ratio, difference, value and order");
		return;
	}
	if ((which < 2) != (against != NULL))
		claim_complain(r, against ? against : r->node, "'%s' %s", relations[which],
			       against ? "compares with nothing: it has no 'against'"
				       : "wants 'against': what to compare with");
	json_object_set_new(r->claim, "relation", json_string(relations[which]));
	if (which == 3)
		read_order(r, n);
	else
		read_bounds(r, relations[which], n);
}

/* Along and tolerance belong to an order. */
static void read_along(struct claim_reader *r)
{
	const struct ynode *along = yaml_get(r->node, "along"), *order = yaml_get(r->node, "order");
	const struct opt *row;
	char key[96];

	if (order && !along)
		claim_complain(r, order, "'order' wants 'along': the setting along which");
	if (along && !order)
		claim_complain(r, along, "'along' belongs to 'order'");
	if (!along || !claim_read_key(r, along, &row, key, sizeof(key)))
		return;
	if (!row || (row->type != OPT_INT && row->type != OPT_TIME && row->type != OPT_BYTES && row->type != OPT_RATE &&
		     row->type != OPT_SHARE))
		claim_complain(r, along, "'along' wants a setting whose values are numbers");
	json_object_set_new(r->claim, "along", json_string(key));
}

static void read_tolerance(struct claim_reader *r)
{
	const struct ynode *n = yaml_get(r->node, "tolerance"), *order = yaml_get(r->node, "order");
	double value;

	if (n && !order)
		claim_complain(r, n, "'tolerance' belongs to 'order'; elsewhere the bounds say what is meant");
	if (!n && order && order->kind == YNODE_SCALAR && !strcmp(order->scalar, "flat"))
		claim_complain(r, order, "'order: flat' wants a 'tolerance' such as 10%%");
	if (!n)
		return;
	if (n->kind != YNODE_SCALAR || !read_share(n->scalar, &value) || value < 0 || value > 10)
		claim_complain(r, n, "'tolerance' wants a share such as 5%% or 0.05");
	else
		json_object_set_new(r->claim, "tolerance", json_real(value));
}

void claim_read_relation(struct claim_reader *r)
{
	read_kind(r);
	read_along(r);
	read_tolerance(r);
}
