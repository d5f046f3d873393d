#include "spec_claims.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/claims_needs.h"
#include "analysis/claims_select.h"
#include "analysis/param.h"
#include "analysis/stats.h"
#include "common/diag.h"
#include "common/text.h"
#include "common/units.h"
#include "common/yaml.h"
#include "settings.h"

/* One claim while it is read. */
struct reader {
	struct diag *d;
	const json_t *points;
	bool whole;
	const struct ynode *node; /* the claim's mapping */
	json_t *claim;
};

__attribute__((format(printf, 3, 4))) static void complain(struct reader *r, const struct ynode *at, const char *format,
							   ...)
{
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	diag_add(r->d, at->line, at->column, "%s", text);
}

/* "; did you mean 'qp'?" or "". */
static const char *hint(const char *nearest, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%s", nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
	return buf;
}

/* Settings ----------------------------------------------------------------------------------------------- */

static bool is_part(const char *name)
{
	return !strcmp(name, "kernel") || !strcmp(name, "transport");
}

/* The row of a setting as the spec's points have it; where none of them does, as anything has it (another experiment may).
 */
static const struct opt *find_row(const struct reader *r, const char *name)
{
	const struct opt *row = NULL;
	const json_t *params;
	char owner[64];
	size_t i;

	json_array_foreach (r->points, i, params) {
		row = setting_find(kernel_find(json_string_value(json_object_get(params, "kernel"))),
				   transport_find(json_string_value(json_object_get(params, "transport"))), name);
		if (row)
			return row;
	}
	return setting_find_anywhere(name, owner, sizeof(owner));
}

/* The key that a setting has in params, into `key`; false and a complaint if there is no such setting. */
static bool read_key(struct reader *r, const struct ynode *n, const struct opt **row, char *key, size_t size)
{
	char text[96];

	*row = NULL;
	if (n->kind != YNODE_SCALAR) {
		complain(r, n, "wants the name of a setting");
		return false;
	}
	snprintf(key, size, "%s", n->scalar);
	if (is_part(n->scalar))
		return true;
	*row = find_row(r, n->scalar);
	if (*row) {
		opt_key(*row, key, size);
		return true;
	}
	complain(r, n, "unknown setting '%.64s'%s", n->scalar, hint(setting_suggest(n->scalar), text, sizeof(text)));
	return false;
}

/* Selections --------------------------------------------------------------------------------------------- */

static json_t *parse_value(struct reader *r, const struct ynode *at, const char *name, const struct opt *row,
			   const char *text)
{
	char why[256];
	json_t *value = row ? opt_parse(row, text, why, sizeof(why)) : json_string(text);

	if (!value)
		complain(r, at, "%s %s", name, why);
	return value;
}

static const char *comparison_at(const char *text)
{
	for (const char *const *c = claim_comparisons; *c; c++)
		if (!strncmp(text, *c, strlen(*c)))
			return *c;
	return NULL;
}

/* ">=64B <=4KiB": an object of comparisons. */
static json_t *read_comparisons(struct reader *r, const struct ynode *n, const char *name, const struct opt *row)
{
	json_t *all = json_object();
	const char *at = n->scalar;

	while (*at) {
		const char *how = comparison_at(at);
		size_t length;
		char word[128];
		json_t *value;

		if (!how) {
			complain(r, n, "%s: '%s' is not understood; compare as in '>=64B <=4KiB'", name, at);
			break;
		}
		at += strlen(how);
		at += strspn(at, " ");
		length = strcspn(at, " ");
		snprintf(word, sizeof(word), "%.*s", (int)length, at);
		at += length;
		at += strspn(at, " ");
		value = parse_value(r, n, name, row, word);
		if (!value)
			break;
		if (strcmp(how, "!=") && !json_is_integer(value))
			complain(r, n, "%s: only numbers can be compared with '%s'", name, how);
		json_object_set_new(all, how, value);
	}
	return all;
}

static void read_condition(struct reader *r, json_t *alternatives, const struct ynode *n, const char *name,
			   const struct opt *row)
{
	json_t *condition = NULL;

	if (n->kind != YNODE_SCALAR)
		complain(r, n, "%s wants a value or a list of values", name);
	else if (comparison_at(n->scalar))
		condition = read_comparisons(r, n, name, row);
	else
		condition = parse_value(r, n, name, row, n->scalar);
	if (condition)
		json_array_append_new(alternatives, condition);
}

static void read_setting(struct reader *r, json_t *conditions, const struct ynode *name, const struct ynode *value)
{
	json_t *alternatives;
	const struct opt *row;
	char key[96];

	if (!read_key(r, name, &row, key, sizeof(key)))
		return;
	alternatives = json_array();
	if (value->kind == YNODE_SEQUENCE)
		for (size_t i = 0; i < value->count; i++)
			read_condition(r, alternatives, value->items[i], name->scalar, row);
	else
		read_condition(r, alternatives, value, name->scalar, row);
	if (!json_array_size(alternatives) && value->kind == YNODE_SEQUENCE)
		complain(r, value, "%s wants a value or a list of values, not an empty list", name->scalar);
	json_object_set_new(conditions, key, alternatives);
}

static bool is_reserved(const char *name)
{
	return !strcmp(name, "experiment") || !strcmp(name, "metric");
}

/* A selection's conditions. `reserved`: keys that are no settings may stand among them (they are read elsewhere). */
static json_t *read_selection(struct reader *r, const struct ynode *n, const char *what, bool reserved)
{
	json_t *conditions = json_object();

	if (n->kind != YNODE_MAPPING) {
		complain(r, n, "'%s' wants a mapping of settings to values", what);
		return conditions;
	}
	for (size_t i = 0; i < n->count; i++)
		if (!reserved || !is_reserved(n->keys[i]->scalar))
			read_setting(r, conditions, n->keys[i], n->items[i]);
	return conditions;
}

static void check_selects(struct reader *r, const struct ynode *n, const json_t *conditions, const char *what)
{
	const json_t *params;
	size_t i;

	if (!r->whole || r->d->count)
		return;
	json_array_foreach (r->points, i, params)
		if (claim_selects(conditions, params))
			return;
	complain(r, n, "'%s' selects none of the spec's points", what);
}

/* Metrics ------------------------------------------------------------------------------------------------ */

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

static void check_metric(struct reader *r, const struct ynode *n)
{
	const char *names[64], *statistic_names[STATISTICS + 1] = {NULL}, *dot = strchr(n->scalar, '.');
	char text[96], series[64];

	if (!dot || dot == n->scalar) {
		complain(r, n, "'metric' wants SERIES.STATISTIC such as lat_ns.p50");
		return;
	}
	snprintf(series, sizeof(series), "%.*s", (int)(dot - n->scalar), n->scalar);
	if (!is_series(n->scalar, (size_t)(dot - n->scalar), names, 64))
		complain(r, n, "no kernel has a series '%s'%s", series,
			 hint(suggest(series, names), text, sizeof(text)));
	for (size_t i = 0; i < STATISTICS; i++)
		statistic_names[i] = statistics[i].name;
	int statistic = find_statistic(dot + 1);

	if (statistic >= 0 && statistics[statistic].of_pacing != !strcmp(series, PACING))
		complain(r, n, "'%s' has no '%s'", series, dot + 1);
	else if (statistic < 0)
		complain(r, n, "no series has a statistic '%.32s'%s", dot + 1,
			 hint(suggest(dot + 1, statistic_names), text, sizeof(text)));
}

static void read_metric(struct reader *r, const struct ynode *n)
{
	if (n->kind != YNODE_SCALAR) {
		complain(r, n, "'metric' wants SERIES.STATISTIC such as lat_ns.p50");
		return;
	}
	check_metric(r, n);
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

/* Relations ---------------------------------------------------------------------------------------------- */

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

static json_t *read_bound(struct reader *r, const struct ynode *n, bool is_ratio)
{
	enum unit unit;
	enum measure measure = measure_of(r->claim, &unit);
	bool plain = is_ratio || measure == MEASURE_SHARE || unit == UNIT_ONE || measure == MEASURE_COUNT;
	double value = 0;
	bool good =
	    n->kind == YNODE_SCALAR && (plain ? read_share(n->scalar, &value) : read_quantity(n->scalar, unit, &value));
	char quoted[TEXT_QUOTE_MAX];

	if (!good)
		complain(r, n, "a bound wants %s, not %s",
			 plain			? "a number or per cent such as 0.5 or 50%"
			 : unit == UNIT_TIME_NS ? "a time such as 500ns"
						: "a quantity with its unit",
			 n->kind == YNODE_SCALAR ? text_quote(n->scalar, quoted, sizeof(quoted)) : "this");
	return good ? json_real(value) : json_null();
}

static void read_bounds(struct reader *r, const char *relation, const struct ynode *n)
{
	const struct ynode *min = yaml_get(n, "min"), *max = yaml_get(n, "max");
	bool is_ratio = !strcmp(relation, "ratio");

	if (n->kind != YNODE_MAPPING || (!min && !max)) {
		complain(r, n, "'%s' wants {min: …, max: …}, one of them at least", relation);
		return;
	}
	for (size_t i = 0; i < n->count; i++)
		if (strcmp(n->keys[i]->scalar, "min") && strcmp(n->keys[i]->scalar, "max"))
			complain(r, n->keys[i], "unknown key '%.32s' of '%s'; it wants min and max", n->keys[i]->scalar,
				 relation);
	if (min)
		json_object_set_new(r->claim, "min", read_bound(r, min, is_ratio));
	if (max)
		json_object_set_new(r->claim, "max", read_bound(r, max, is_ratio));
	if (min && max &&
	    json_real_value(json_object_get(r->claim, "min")) > json_real_value(json_object_get(r->claim, "max")))
		complain(r, n, "'min' is above 'max'");
}

static void read_order(struct reader *r, const struct ynode *n)
{
	static const char *const orders[] = {"rising", "falling", "flat", NULL};
	size_t i = 0;
	char text[96];

	if (n->kind != YNODE_SCALAR) {
		complain(r, n, "'order' wants rising, falling or flat");
		return;
	}
	while (orders[i] && strcmp(orders[i], n->scalar))
		i++;
	if (!orders[i])
		complain(r, n, "'order' wants rising, falling or flat%s",
			 hint(suggest(n->scalar, orders), text, sizeof(text)));
	json_object_set_new(r->claim, "relation", json_string(n->scalar));
}

static void read_relation(struct reader *r)
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
		complain(r, r->node, "a claim wants exactly one of ratio, difference, value and order");
		return;
	}
	if ((which < 2) != (against != NULL))
		complain(r, against ? against : r->node, "'%s' %s", relations[which],
			 against ? "compares with nothing: it has no 'against'"
				 : "wants 'against': what to compare with");
	json_object_set_new(r->claim, "relation", json_string(relations[which]));
	if (which == 3)
		read_order(r, n);
	else
		read_bounds(r, relations[which], n);
}

/* Along and tolerance belong to an order. */
static void read_along(struct reader *r)
{
	const struct ynode *along = yaml_get(r->node, "along"), *order = yaml_get(r->node, "order");
	const struct opt *row;
	char key[96];

	if (order && !along)
		complain(r, order, "'order' wants 'along': the setting along which");
	if (along && !order)
		complain(r, along, "'along' belongs to 'order'");
	if (!along || !read_key(r, along, &row, key, sizeof(key)))
		return;
	if (!row || (row->type != OPT_INT && row->type != OPT_TIME && row->type != OPT_BYTES && row->type != OPT_RATE &&
		     row->type != OPT_SHARE))
		complain(r, along, "'along' wants a setting whose values are numbers");
	json_object_set_new(r->claim, "along", json_string(key));
}

static void read_tolerance(struct reader *r)
{
	const struct ynode *n = yaml_get(r->node, "tolerance"), *order = yaml_get(r->node, "order");
	double value;

	if (n && !order)
		complain(r, n, "'tolerance' belongs to 'order'; elsewhere the bounds say what is meant");
	if (!n && order && order->kind == YNODE_SCALAR && !strcmp(order->scalar, "flat"))
		complain(r, order, "'order: flat' wants a 'tolerance' such as 10%%");
	if (!n)
		return;
	if (n->kind != YNODE_SCALAR || !read_share(n->scalar, &value) || value < 0 || value > 10)
		complain(r, n, "'tolerance' wants a share such as 5%% or 0.05");
	else
		json_object_set_new(r->claim, "tolerance", json_real(value));
}

/* Needs -------------------------------------------------------------------------------------------------- */

/* "hca", or {cpus: 4}. */
static void read_need(struct reader *r, json_t *needs, const struct ynode *n)
{
	const struct ynode *name = n->kind == YNODE_MAPPING && n->count == 1 ? n->keys[0] : n;
	const struct ynode *count = name == n ? NULL : n->items[0];
	const struct claim_need *need = name->kind == YNODE_SCALAR ? claim_need_find(name->scalar) : NULL;
	const char *names[32] = {NULL};
	int64_t number = 0;
	json_t *j;
	char text[96];

	for (size_t i = 0; i < 31 && claim_needs[i].name; i++)
		names[i] = claim_needs[i].name;
	if (!need) {
		complain(r, n, "unknown need%s",
			 hint(name->kind == YNODE_SCALAR ? suggest(name->scalar, names) : NULL, text, sizeof(text)));
		return;
	}
	if (need->counts != (count != NULL)) {
		complain(r, n, need->counts ? "'%s' wants a number: {%s: 4}" : "'%s' takes no number", need->name,
			 need->name);
		return;
	}
	if (count &&
	    (count->kind != YNODE_SCALAR || unit_parse(UNIT_ONE, count->scalar, &number, NULL, 0) || number < 1))
		complain(r, count, "'%s' wants a number such as 4", need->name);
	j = json_pack("{s:s}", "need", need->name);
	if (count)
		json_object_set_new(j, "count", json_integer(number));
	json_array_append_new(needs, j);
}

static void read_needs(struct reader *r, const struct ynode *n)
{
	json_t *needs = json_object_get(r->claim, "needs");

	if (n->kind != YNODE_SEQUENCE) {
		complain(r, n, "'needs' wants a list such as [hca, {cpus: 4}]");
		return;
	}
	for (size_t i = 0; i < n->count; i++)
		read_need(r, needs, n->items[i]);
}

/* A claim ------------------------------------------------------------------------------------------------ */

static bool is_id(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-_");

	return n > 0 && n <= 64 && !s[n];
}

static void read_id(struct reader *r, const struct ynode *n)
{
	if (n->kind != YNODE_SCALAR || !is_id(n->scalar))
		complain(r, n, "'id' wants up to 64 lower-case letters, digits, '-' and '_'");
	else
		json_object_set_new(r->claim, "id", json_string(n->scalar));
}

static void read_text(struct reader *r, const char *key)
{
	const struct ynode *n = yaml_get(r->node, key);

	if (n && (n->kind != YNODE_SCALAR || strlen(n->scalar) > 1000))
		complain(r, n, "'%s' wants a text of at most 1000 bytes", key);
	json_object_set_new(r->claim, key, json_string(n && n->kind == YNODE_SCALAR ? n->scalar : ""));
}

static void read_claim_text(struct reader *r, const struct ynode *n)
{
	read_text(r, "claim");
	if (n->kind == YNODE_SCALAR && !*n->scalar)
		complain(r, n, "'claim' is empty: it wants the sentence that is checked");
}

static void read_points(struct reader *r, const struct ynode *n)
{
	json_t *conditions = read_selection(r, n, "points", false);

	json_object_set_new(r->claim, "points", conditions);
	check_selects(r, n, conditions, "points");
}

static void read_against(struct reader *r, const struct ynode *n)
{
	const struct ynode *experiment = yaml_get(n, "experiment"), *metric = yaml_get(n, "metric");
	json_t *conditions = read_selection(r, n, "against", true), *against;

	if (experiment && (experiment->kind != YNODE_SCALAR || !is_id(experiment->scalar)))
		complain(r, experiment, "'experiment' wants the name of an experiment");
	if (metric && metric->kind == YNODE_SCALAR)
		check_metric(r, metric);
	else if (metric)
		complain(r, metric, "'metric' wants SERIES.STATISTIC such as lat_ns.p50");
	against = json_pack("{s:n, s:O?, s:o}", "experiment", "metric", json_object_get(r->claim, "metric"), "points",
			    conditions);
	if (experiment && experiment->kind == YNODE_SCALAR)
		json_object_set_new(against, "experiment", json_string(experiment->scalar));
	else
		check_selects(r, n, conditions, "against");
	if (metric && metric->kind == YNODE_SCALAR)
		json_object_set_new(against, "metric", json_string(metric->scalar));
	json_object_set_new(r->claim, "against", against);
}

static void read_by(struct reader *r, const struct ynode *n)
{
	json_t *by = json_array();
	const struct opt *row;
	char key[96];

	if (n->kind != YNODE_SEQUENCE)
		complain(r, n, "'by' wants a list of settings such as [qp]");
	for (size_t i = 0; n->kind == YNODE_SEQUENCE && i < n->count; i++)
		if (read_key(r, n->items[i], &row, key, sizeof(key)))
			json_array_append_new(by, json_string(key));
	json_object_set_new(r->claim, "by", by);
}

/* Keys in the order in which they are read; NULL: read with others, or plain texts. */
static const struct {
	const char *name;
	bool required;
	void (*read)(struct reader *r, const struct ynode *n);
} keys[] = {
    {"id", true, read_id},
    {"claim", true, read_claim_text},
    {"source", false, NULL},
    {"measured_by_source", false, NULL},
    {"metric", true, read_metric},
    {"points", true, read_points},
    {"against", false, read_against},
    {"by", false, read_by},
    {"needs", false, read_needs},
    {"ratio", false, NULL},
    {"difference", false, NULL},
    {"value", false, NULL},
    {"order", false, NULL},
    {"along", false, NULL},
    {"tolerance", false, NULL},
};

#define KEYS (sizeof(keys) / sizeof(keys[0]))

static void check_keys(struct reader *r)
{
	const char *names[KEYS + 1] = {NULL};
	char text[96];

	for (size_t k = 0; k < KEYS; k++)
		names[k] = keys[k].name;
	for (size_t i = 0; i < r->node->count; i++) {
		const struct ynode *key = r->node->keys[i];
		size_t k = 0;

		while (k < KEYS && strcmp(names[k], key->scalar))
			k++;
		if (k == KEYS)
			complain(r, key, "unknown key '%.64s' of a claim%s", key->scalar,
				 hint(suggest(key->scalar, names), text, sizeof(text)));
	}
}

static json_t *read_claim(struct reader *r)
{
	r->claim = json_pack("{s:s, s:s, s:s, s:s, s:n, s:{}, s:n, s:n, s:s, s:n, s:n, s:n, s:f, s:[]}", "id", "",
			     "claim", "", "source", "", "measured_by_source", "", "metric", "points", "against", "by",
			     "relation", "", "min", "max", "along", "tolerance", 0.0, "needs");
	check_keys(r);
	for (size_t k = 0; k < KEYS; k++) {
		const struct ynode *n = yaml_get(r->node, keys[k].name);

		if (!n && keys[k].required)
			complain(r, r->node, "'%s' of a claim is missing", keys[k].name);
		if (n && keys[k].read)
			keys[k].read(r, n);
	}
	read_text(r, "source");
	read_text(r, "measured_by_source");
	read_relation(r);
	read_along(r);
	read_tolerance(r);
	return r->claim;
}

static bool has_id(const json_t *claims, const json_t *id)
{
	const json_t *claim;
	size_t i;

	json_array_foreach (claims, i, claim)
		if (json_equal(json_object_get(claim, "id"), id))
			return *json_string_value(id) != '\0';
	return false;
}

json_t *spec_claims_read(const struct ynode *root, const json_t *points, bool whole, struct diag *d)
{
	const struct ynode *all = yaml_get(root, "claims");
	struct reader r = {.d = d, .points = points, .whole = whole};
	json_t *claims = json_array();

	if (!all)
		return claims;
	if (all->kind != YNODE_SEQUENCE || all->count > SPEC_MAX_CLAIMS) {
		diag_add(d, all->line, all->column, "'claims' wants a list of at most %d claims, each a mapping",
			 SPEC_MAX_CLAIMS);
		return claims;
	}
	for (size_t i = 0; i < all->count; i++) {
		json_t *claim;

		r.node = all->items[i];
		if (r.node->kind != YNODE_MAPPING) {
			complain(&r, r.node, "a claim wants a mapping with 'id', 'claim', 'metric', 'points', …");
			continue;
		}
		claim = read_claim(&r);
		if (has_id(claims, json_object_get(claim, "id")))
			complain(&r, yaml_get(r.node, "id"), "a claim with this 'id' stands above already");
		json_array_append_new(claims, claim);
	}
	return claims;
}
