#include "claims/claim_select.h"

#include <string.h>

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
