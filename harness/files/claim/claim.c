#include "files/claim/claim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"
#include "files/rundir/flows.h"

const char *const claim_relation_names[] = {
    [CLAIM_RATIO] = "ratio",   [CLAIM_DIFFERENCE] = "difference", [CLAIM_VALUE] = "value",
    [CLAIM_RISING] = "rising", [CLAIM_FALLING] = "falling",	  [CLAIM_FLAT] = "flat",
    [CLAIM_RELATIONS] = NULL,
};

const char *const claim_comparison_names[] = {
    [CLAIM_AT_MOST] = "<=", [CLAIM_AT_LEAST] = ">=", [CLAIM_UNEQUAL] = "!=",
    [CLAIM_BELOW] = "<",    [CLAIM_ABOVE] = ">",     [CLAIM_COMPARISONS] = NULL,
};

const char *const claim_origin_names[] = {
    [CLAIM_OF_SOURCE] = "source", [CLAIM_OURS] = "ours", [CLAIM_SELF_TEST] = "self-test", [CLAIM_ORIGINS] = NULL};

const struct claim_need_kind claim_need_kinds[] = {
#define NEED(name, counts) {#name, counts},
#include "files/claim/claim_needs.def"
#undef NEED
    {NULL, false},
};

const struct claim_need_kind *claim_need_find(const char *name)
{
	for (const struct claim_need_kind *n = claim_need_kinds; n->name; n++)
		if (!strcmp(n->name, name))
			return n;
	return NULL;
}

/* --- metrics --- */

void claim_metric_set(struct claim_metric *m, const char *text)
{
	const char *dot = strrchr(text, '.');
	struct claim_metric made = {
	    .text = or_abort(strdup(text)),
	    .of = or_abort(strndup(text, dot ? (size_t)(dot - text) : 0)),
	    .statistic = or_abort(strdup(dot ? dot + 1 : "")),
	};
	size_t length = (size_t)(flows_bare_key(made.of) - made.of);

	made.flow = or_abort(strndup(made.of, length ? length - 1 : 0));
	claim_metric_free(m);
	*m = made;
}

void claim_metric_free(struct claim_metric *m)
{
	free(m->text);
	free(m->of);
	free(m->statistic);
	free(m->flow);
}

/* --- selections --- */

struct claim_condition *claim_selection_add(struct claim_selection *s, const char *key)
{
	s->conditions = grow_or_abort(s->conditions, s->count, sizeof(*s->conditions));
	s->conditions[s->count] = (struct claim_condition){.key = or_abort(strdup(key))};
	return &s->conditions[s->count++];
}

struct claim_alternative *claim_condition_add(struct claim_condition *c)
{
	c->alternatives = grow_or_abort(c->alternatives, c->count, sizeof(*c->alternatives));
	c->alternatives[c->count] = (struct claim_alternative){0};
	return &c->alternatives[c->count++];
}

void claim_alternative_add(struct claim_alternative *a, enum claim_comparison how, json_t *value)
{
	for (size_t i = 0; i < a->count; i++)
		if (a->tests[i].how == how) {
			json_decref(a->tests[i].value);
			a->tests[i].value = value;
			return;
		}
	a->tests = grow_or_abort(a->tests, a->count, sizeof(*a->tests));
	a->tests[a->count++] = (struct claim_test){how, value};
}

void claim_selection_copy(struct claim_selection *s, const struct claim_selection *from)
{
	for (size_t i = 0; i < from->count; i++) {
		struct claim_condition *c = claim_selection_add(s, from->conditions[i].key);

		for (size_t k = 0; k < from->conditions[i].count; k++) {
			const struct claim_alternative *a = &from->conditions[i].alternatives[k];
			struct claim_alternative *copy = claim_condition_add(c);

			for (size_t t = 0; t < a->count; t++)
				claim_alternative_add(copy, a->tests[t].how, json_incref(a->tests[t].value));
		}
	}
}

static void condition_free(struct claim_condition *c)
{
	for (size_t i = 0; i < c->count; i++) {
		for (size_t k = 0; k < c->alternatives[i].count; k++)
			json_decref(c->alternatives[i].tests[k].value);
		free(c->alternatives[i].tests);
	}
	free(c->alternatives);
	free(c->key);
}

static void selection_free(struct claim_selection *s)
{
	for (size_t i = 0; i < s->count; i++)
		condition_free(&s->conditions[i]);
	free(s->conditions);
}

void claim_add_by(struct claim *c, const char *key)
{
	c->by = grow_or_abort(c->by, c->by_count, sizeof(*c->by));
	c->by[c->by_count++] = or_abort(strdup(key));
}

void claim_add_need(struct claim *c, const char *name, int64_t count)
{
	c->needs = grow_or_abort(c->needs, c->need_count, sizeof(*c->needs));
	c->needs[c->need_count++] = (struct claim_need){or_abort(strdup(name)), count};
}

struct claim claim_empty(void)
{
	struct claim c = {
	    .id = or_abort(strdup("")),
	    .text = or_abort(strdup("")),
	    .source = or_abort(strdup("")),
	    .measured_by_source = or_abort(strdup("")),
	    .relation = CLAIM_RELATIONS,
	    .min = -INFINITY,
	    .max = INFINITY,
	};

	claim_metric_set(&c.metric, "");
	claim_metric_set(&c.against.metric, "");
	return c;
}

static void free_texts(struct claim *c)
{
	free(c->id);
	free(c->text);
	free(c->source);
	free(c->measured_by_source);
	free(c->against.experiment);
	free(c->unknown_relation);
	free(c->along);
}

void claim_free(struct claim *c)
{
	free_texts(c);
	claim_metric_free(&c->metric);
	claim_metric_free(&c->against.metric);
	selection_free(&c->points);
	selection_free(&c->against.points);
	for (size_t i = 0; i < c->by_count; i++)
		free(c->by[i]);
	for (size_t i = 0; i < c->need_count; i++)
		free(c->needs[i].name);
	free(c->by);
	free(c->needs);
}

void claim_list_add(struct claim_list *list, struct claim c)
{
	list->claims = grow_or_abort(list->claims, list->count, sizeof(*list->claims));
	list->claims[list->count++] = c;
}

void claim_list_free(struct claim_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		claim_free(&list->claims[i]);
	free(list->claims);
	*list = (struct claim_list){0};
}

/* --- which points are selected --- */

static bool test_passes(const struct claim_test *t, const json_t *value)
{
	json_int_t is = json_integer_value(value), with = json_integer_value(t->value);
	bool are_numbers = json_is_integer(value) && json_is_integer(t->value);

	switch (t->how) {
	case CLAIM_EQUAL:
		return json_equal(t->value, value);
	case CLAIM_UNEQUAL:
		return !json_equal(t->value, value);
	case CLAIM_AT_MOST:
		return are_numbers && is <= with;
	case CLAIM_AT_LEAST:
		return are_numbers && is >= with;
	case CLAIM_BELOW:
		return are_numbers && is < with;
	case CLAIM_ABOVE:
		return are_numbers && is > with;
	case CLAIM_INCOMPARABLE:
		break;
	}
	return false;
}

static bool alternative_holds(const struct claim_alternative *a, const json_t *value)
{
	for (size_t i = 0; i < a->count; i++)
		if (!test_passes(&a->tests[i], value))
			return false;
	return true;
}

static bool condition_holds(const struct claim_condition *c, const json_t *value)
{
	for (size_t i = 0; value && i < c->count; i++)
		if (alternative_holds(&c->alternatives[i], value))
			return true;
	return false;
}

bool claim_selects(const struct claim_selection *s, const json_t *params)
{
	for (size_t i = 0; i < s->count; i++)
		if (!condition_holds(&s->conditions[i], json_object_get(params, s->conditions[i].key)))
			return false;
	return true;
}

static const struct claim_condition *find_condition(const struct claim_selection *s, const char *key)
{
	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(s->conditions[i].key, key))
			return &s->conditions[i];
	return NULL;
}

bool claim_selects_by(const struct claim_selection *s, const char *key)
{
	return find_condition(s, key) != NULL;
}

static bool has_test(const struct claim_alternative *a, const struct claim_test *t)
{
	for (size_t i = 0; i < a->count; i++)
		if (a->tests[i].how == t->how && json_equal(a->tests[i].value, t->value))
			return true;
	return false;
}

static bool alternatives_equal(const struct claim_alternative *a, const struct claim_alternative *b)
{
	for (size_t i = 0; i < a->count; i++)
		if (!has_test(b, &a->tests[i]))
			return false;
	return a->count == b->count;
}

bool claim_selects_differently(const struct claim_selection *a, const struct claim_selection *b, const char *key)
{
	const struct claim_condition *x = find_condition(a, key), *y = find_condition(b, key);

	if (!x || !y)
		return false;
	for (size_t i = 0; i < x->count && i < y->count; i++)
		if (!alternatives_equal(&x->alternatives[i], &y->alternatives[i]))
			return true;
	return x->count != y->count;
}
