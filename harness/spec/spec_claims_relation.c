#include "spec/spec_claims_relation.h"

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
#include "spec/spec_claims_select.h"

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
	enum unit unit = claim_metric_unit(&r->claim->metric);
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

static bool is_spread(const struct claim_metric *m)
{
	return claim_metric_over_reps(m) == OVER_REPS_SPREAD;
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
	else if (!is_spread(&c->metric) || !is_spread(&c->against.metric))
		claim_reader_complain(r, n, "'pool' needs a quantile, a mean or the like, not %s",
				      is_spread(&c->metric) ? c->against.metric.text : c->metric.text);
	else
		r->claim->pools = true;
}

void claim_reader_relation(struct claim_reader *r)
{
	read_kind(r);
	read_along(r);
	read_tolerance(r);
	read_pool(r);
}
