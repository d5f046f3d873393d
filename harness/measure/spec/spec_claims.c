#include "measure/spec/spec_claims.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/diag.h"
#include "common/opt.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "common/units.h"
#include "common/yaml.h"
#include "files/claim/claim.h"

/* A plain number, or with '%' a percentage. */
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

/* A number with its unit; a difference may be negative. */
static bool read_quantity(const char *text, enum unit unit, double *value)
{
	bool negative = *text == '-';
	int64_t whole;

	if (unit_parse(unit, text + negative, &whole, NULL, 0))
		return false;
	*value = (double)(negative ? -whole : whole);
	return true;
}

/* `none`: the result for an invalid bound. */
static double read_bound(struct claim_reader *r, const struct ynode *n, bool is_ratio, double none)
{
	enum unit unit = claim_reader_unit(&r->claim->metric);
	bool plain = is_ratio || unit == UNIT_ONE;
	double value = 0;
	bool good =
	    n->kind == YNODE_SCALAR && (plain ? read_share(n->scalar, &value) : read_quantity(n->scalar, unit, &value));
	char quoted[TEXT_QUOTE_MAX];

	if (!good)
		claim_reader_complain(r, n, "a bound must be %s, not %s",
				      plain		     ? "a number or per cent such as 0.5 or 50%"
				      : unit == UNIT_TIME_NS ? "a time such as 500ns"
							     : "a quantity with its unit",
				      n->kind == YNODE_SCALAR ? text_quote(n->scalar, quoted, sizeof(quoted)) : "this");
	return good ? value : none;
}

static void read_bounds(struct claim_reader *r, const char *relation, const struct ynode *n)
{
	const struct ynode *min = yaml_get(n, "min"), *max = yaml_get(n, "max");
	bool is_ratio = !strcmp(relation, "ratio");

	if (n->kind != YNODE_MAPPING || (!min && !max)) {
		claim_reader_complain(r, n, "'%s' must be {min: …, max: …}, with at least one of them", relation);
		return;
	}
	for (size_t i = 0; i < n->count; i++)
		if (strcmp(n->keys[i]->scalar, "min") && strcmp(n->keys[i]->scalar, "max"))
			claim_reader_complain(r, n->keys[i], "unknown key '%.32s' of '%s'; it has min and max",
					      n->keys[i]->scalar, relation);
	if (min)
		r->claim->min = read_bound(r, min, is_ratio, -INFINITY);
	if (max)
		r->claim->max = read_bound(r, max, is_ratio, INFINITY);
	if (r->claim->min > r->claim->max)
		claim_reader_complain(r, n, "'min' is above 'max'");
}

static void read_direction(struct claim_reader *r, const struct ynode *n)
{
	const char *const *orders = claim_relation_names + CLAIM_RISING;
	size_t i = 0;
	char text[SUGGESTION_MAX];

	if (n->kind != YNODE_SCALAR) {
		claim_reader_complain(r, n, "'order' must be rising, falling or flat");
		return;
	}
	while (orders[i] && strcmp(orders[i], n->scalar))
		i++;
	if (!orders[i])
		claim_reader_complain(r, n, "'order' must be rising, falling or flat%s",
				      suggestion(suggest(n->scalar, orders), text, sizeof(text)));
	r->claim->relation = CLAIM_RISING + i;
}

static void read_kind(struct claim_reader *r)
{
	static const char *const relations[] = {
	    [CLAIM_RATIO] = "ratio", [CLAIM_DIFFERENCE] = "difference", [CLAIM_VALUE] = "value", "order"};
	const struct ynode *n = NULL, *against = yaml_get(r->node, "against");
	size_t found = 0, which = 0;

	for (size_t i = 0; i < sizeof(relations) / sizeof(relations[0]); i++) {
		const struct ynode *one = yaml_get(r->node, relations[i]);

		n = one ? one : n;
		which = one ? i : which;
		found += one != NULL;
	}
	if (found != 1) {
		claim_reader_complain(r, r->node,
				      "a claim must have exactly one of ratio, difference, value and order");
		return;
	}
	if ((which < CLAIM_VALUE) != (against != NULL))
		claim_reader_complain(r, against ? against : r->node, "'%s' %s", relations[which],
				      against ? "compares with nothing: it has no 'against'"
					      : "needs 'against': what to compare with");
	if (which > CLAIM_VALUE) {
		read_direction(r, n);
		return;
	}
	r->claim->relation = which;
	read_bounds(r, relations[which], n);
}

/* `along` and `tolerance` belong to an order. */
static void read_along(struct claim_reader *r)
{
	const struct ynode *along = yaml_get(r->node, "along"), *order = yaml_get(r->node, "order");
	const struct opt *row;
	char key[CLAIM_KEY_MAX];

	if (order && !along)
		claim_reader_complain(r, order, "'order' needs 'along': the setting along which");
	if (along && !order)
		claim_reader_complain(r, along, "'along' belongs to 'order'");
	if (!along || !claim_reader_key(r, along, SCOPE_POINTS, &row, key))
		return;
	if (!row || (row->type != OPT_INT && row->type != OPT_TIME && row->type != OPT_BYTES && row->type != OPT_RATE &&
		     row->type != OPT_SHARE))
		claim_reader_complain(r, along, "'along' must be a setting whose values are numbers");
	r->claim->along = or_abort(strdup(key));
}

static void read_tolerance(struct claim_reader *r)
{
	const struct ynode *n = yaml_get(r->node, "tolerance"), *order = yaml_get(r->node, "order");
	double value;

	if (n && !order)
		claim_reader_complain(r, n,
				      "'tolerance' belongs to 'order'; use the bounds of other relations instead");
	if (!n && order && order->kind == YNODE_SCALAR && !strcmp(order->scalar, "flat"))
		claim_reader_complain(r, order, "'order: flat' needs a 'tolerance' such as 10%%");
	if (!n)
		return;
	if (n->kind != YNODE_SCALAR || !read_share(n->scalar, &value) || value < 0 || value > 10)
		claim_reader_complain(r, n, "'tolerance' must be a share such as 5%% or 0.05");
	else
		r->claim->tolerance = value;
}

/* Read `pool`: all cases are judged as one. */
static void read_pool(struct claim_reader *r)
{
	const struct ynode *n = yaml_get(r->node, "pool");
	const struct claim *c = r->claim;

	if (!n)
		return;
	if (n->kind != YNODE_SCALAR || (strcmp(n->scalar, "yes") && strcmp(n->scalar, "no")))
		claim_reader_complain(r, n, "'pool' must be yes or no");
	else if (!strcmp(n->scalar, "no"))
		return;
	else if (!yaml_get(r->node, "ratio"))
		claim_reader_complain(r, n, "'pool' belongs to 'ratio': the mean ratio of all cases");
	else if (!claim_reader_has_interval(&c->metric) || !claim_reader_has_interval(&c->against.metric))
		claim_reader_complain(r, n, "'pool' needs a number that has an interval, not %s",
				      claim_reader_has_interval(&c->metric) ? c->against.metric.text : c->metric.text);
	else
		r->claim->pools = true;
}

/* To be called after the metric was read. */
static void claim_reader_relation(struct claim_reader *r)
{
	read_kind(r);
	read_along(r);
	read_tolerance(r);
	read_pool(r);
}

#define NEEDS_MAX 32

static void complain_need(struct claim_reader *r, const struct ynode *n, const struct ynode *name)
{
	const char *names[NEEDS_MAX] = {NULL}, *nearest;
	char text[SUGGESTION_MAX];

	for (size_t i = 0; i < NEEDS_MAX - 1 && claim_need_kinds[i].name; i++)
		names[i] = claim_need_kinds[i].name;
	nearest = name->kind == YNODE_SCALAR ? suggest(name->scalar, names) : NULL;
	claim_reader_complain(r, n, "unknown need%s", suggestion(nearest, text, sizeof(text)));
}

/* "hca", or {cpus: 4}. */
static void read_need(struct claim_reader *r, const struct ynode *n)
{
	const struct ynode *name = n->kind == YNODE_MAPPING && n->count == 1 ? n->keys[0] : n;
	const struct ynode *count = name == n ? NULL : n->items[0];
	const struct claim_need_kind *need = name->kind == YNODE_SCALAR ? claim_need_find(name->scalar) : NULL;
	int64_t number = 0;

	if (!need) {
		complain_need(r, n, name);
		return;
	}
	if (need->counts != (count != NULL)) {
		claim_reader_complain(r, n, need->counts ? "'%s' needs a number: {%s: 4}" : "'%s' takes no number",
				      need->name, need->name);
		return;
	}
	if (count &&
	    (count->kind != YNODE_SCALAR || unit_parse(UNIT_ONE, count->scalar, &number, NULL, 0) || number < 1))
		claim_reader_complain(r, count, "'%s' must be a number such as 4", need->name);
	claim_add_need(r->claim, need->name, number);
}

static void read_needs(struct claim_reader *r, const struct ynode *n)
{
	if (n->kind != YNODE_SEQUENCE) {
		claim_reader_complain(r, n, "'needs' must be a list such as [hca, {cpus: 4}]");
		return;
	}
	for (size_t i = 0; i < n->count; i++)
		read_need(r, n->items[i]);
}

static void keep_text(char **text, const char *with)
{
	free(*text);
	*text = or_abort(strdup(with));
}

static bool is_id(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-_");

	return n > 0 && n <= 64 && !s[n];
}

static void read_id(struct claim_reader *r, const struct ynode *n)
{
	if (n->kind != YNODE_SCALAR || !is_id(n->scalar))
		claim_reader_complain(r, n, "'id' must be up to 64 lower-case letters, digits, '-' and '_'");
	else
		keep_text(&r->claim->id, n->scalar);
}

static void read_note(struct claim_reader *r, const char *key, char **text)
{
	const struct ynode *n = yaml_get(r->node, key);

	if (n && (n->kind != YNODE_SCALAR || strlen(n->scalar) > 1000))
		claim_reader_complain(r, n, "'%s' must be a text of at most 1000 bytes", key);
	if (n && n->kind == YNODE_SCALAR)
		keep_text(text, n->scalar);
}

static void read_claim_text(struct claim_reader *r, const struct ynode *n)
{
	read_note(r, "claim", &r->claim->text);
	if (n->kind == YNODE_SCALAR && !*n->scalar)
		claim_reader_complain(r, n, "'claim' is empty; it must be the sentence that is checked");
}

static void read_origin(struct claim_reader *r, const struct ynode *n)
{
	size_t i = 0;

	while (n->kind == YNODE_SCALAR && claim_origin_names[i] && strcmp(n->scalar, claim_origin_names[i]) != 0)
		i++;
	if (n->kind == YNODE_SCALAR && i < CLAIM_ORIGINS)
		r->claim->origin = i;
	else
		claim_reader_complain(r, n, "'origin' must be source, ours or self-test");
}

static void read_metric(struct claim_reader *r, const struct ynode *n)
{
	claim_reader_metric(r, n, false, &r->claim->metric);
}

static void read_points(struct claim_reader *r, const struct ynode *n)
{
	claim_reader_selection(r, n, "points", SCOPE_POINTS, &r->claim->points);
	claim_reader_check_selects(r, n, &r->claim->points, "points");
}

/* If it only has a metric, it is another number of the same points. */
static void read_against(struct claim_reader *r, const struct ynode *n)
{
	const struct ynode *experiment = yaml_get(n, "experiment"), *metric = yaml_get(n, "metric");
	struct claim *c = r->claim;

	c->compares = true;
	claim_reader_selection(r, n, "against", experiment ? SCOPE_ELSEWHERE : SCOPE_POINTS, &c->against.points);
	if (experiment && (experiment->kind != YNODE_SCALAR || !is_id(experiment->scalar)))
		claim_reader_complain(r, experiment, "'experiment' must be the name of an experiment");
	if (metric)
		claim_reader_metric(r, metric, experiment != NULL, &c->against.metric);
	else
		claim_metric_set(&c->against.metric, c->metric.text);
	if (metric && n->count == 1)
		claim_selection_copy(&c->against.points, &c->points);
	if (experiment && experiment->kind == YNODE_SCALAR)
		c->against.experiment = or_abort(strdup(experiment->scalar));
	else
		claim_reader_check_selects(r, n, &c->against.points, "against");
}

static void read_by(struct claim_reader *r, const struct ynode *n)
{
	enum claim_scope scope = r->claim->against.experiment ? SCOPE_ELSEWHERE : SCOPE_METRIC;
	const struct opt *row;
	char key[CLAIM_KEY_MAX];

	r->claim->has_by = true;
	if (n->kind != YNODE_SEQUENCE)
		claim_reader_complain(r, n, "'by' must be a list of settings such as [qp]");
	for (size_t i = 0; n->kind == YNODE_SEQUENCE && i < n->count; i++)
		if (claim_reader_key(r, n->items[i], scope, &row, key))
			claim_add_by(r->claim, key);
}

/* Keys in the order in which they are read; NULL: read together with others, or a plain text. */
static const struct {
	const char *name;
	bool required;
	void (*read)(struct claim_reader *r, const struct ynode *n);
} keys[] = {
    {"id", true, read_id},
    {"claim", true, read_claim_text},
    {"origin", false, read_origin},
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
    {"pool", false, NULL},
};

#define KEYS (sizeof(keys) / sizeof(keys[0]))

static void check_claim_keys(struct claim_reader *r)
{
	const char *names[KEYS + 1] = {NULL};
	char text[SUGGESTION_MAX];

	for (size_t k = 0; k < KEYS; k++)
		names[k] = keys[k].name;
	for (size_t i = 0; i < r->node->count; i++) {
		const struct ynode *key = r->node->keys[i];
		size_t k = 0;

		while (k < KEYS && strcmp(names[k], key->scalar))
			k++;
		if (k == KEYS)
			claim_reader_complain(r, key, "unknown key '%.64s' of a claim%s", key->scalar,
					      suggestion(suggest(key->scalar, names), text, sizeof(text)));
	}
}

static void read_claim(struct claim_reader *r)
{
	check_claim_keys(r);
	for (size_t k = 0; k < KEYS; k++) {
		const struct ynode *n = yaml_get(r->node, keys[k].name);

		if (!n && keys[k].required)
			claim_reader_complain(r, r->node, "'%s' of a claim is missing", keys[k].name);
		if (n && keys[k].read)
			keys[k].read(r, n);
	}
	read_note(r, "source", &r->claim->source);
	read_note(r, "measured_by_source", &r->claim->measured_by_source);
	claim_reader_relation(r);
}

static bool has_id(const struct claim_list *claims, const char *id)
{
	for (size_t i = 0; i < claims->count; i++)
		if (!strcmp(claims->claims[i].id, id))
			return *id != '\0';
	return false;
}

struct claim_list spec_claims_read(const struct ynode *root, const struct point *points, size_t count, bool whole,
				   struct diag *d)
{
	const struct ynode *all = yaml_get(root, "claims");
	struct claim_reader r;
	struct claim_list claims = {0};

	if (!all)
		return claims;
	if (all->kind != YNODE_SEQUENCE || all->count > SPEC_MAX_CLAIMS) {
		diag_add(d, all->line, all->column, "'claims' must be a list of at most %d claims, each a mapping",
			 SPEC_MAX_CLAIMS);
		return claims;
	}
	r = claim_reader_open(points, count, d);
	r.whole = whole;
	for (size_t i = 0; i < all->count; i++) {
		struct claim claim = claim_empty();

		r.node = all->items[i];
		r.claim = &claim;
		if (r.node->kind != YNODE_MAPPING) {
			claim_reader_complain(&r, r.node,
					      "a claim must be a mapping with 'id', 'claim', 'metric', 'points', …");
			claim_free(&claim);
			continue;
		}
		read_claim(&r);
		if (has_id(&claims, claim.id))
			claim_reader_complain(&r, yaml_get(r.node, "id"),
					      "duplicate 'id': a claim above has it already");
		claim_list_add(&claims, claim);
	}
	claim_reader_close(&r);
	return claims;
}
