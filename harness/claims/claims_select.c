#include "claims/claims_select.h"

#include <string.h>

const char *const claim_comparisons[] = {"<=", ">=", "!=", "<", ">", NULL};

static bool compare(const char *how, const json_t *value, const json_t *with)
{
	if (!strcmp(how, "!="))
		return !json_equal(value, with);
	if (!json_is_integer(value) || !json_is_integer(with))
		return false;

	json_int_t a = json_integer_value(value), b = json_integer_value(with);

	if (how[1] == '=' && a == b)
		return true;
	return *how == '<' ? a < b : a > b;
}

static bool fulfils(const json_t *condition, const json_t *value)
{
	const char *how;
	json_t *with;

	if (!json_is_object(condition))
		return json_equal(condition, value);
	json_object_foreach ((json_t *)condition, how, with)
		if (!compare(how, value, with))
			return false;
	return true;
}

static bool fulfils_any(const json_t *alternatives, const json_t *value)
{
	const json_t *condition;
	size_t i;

	json_array_foreach (alternatives, i, condition)
		if (fulfils(condition, value))
			return true;
	return false;
}

bool claim_selects(const json_t *conditions, const json_t *params)
{
	const char *key;
	json_t *alternatives;

	json_object_foreach ((json_t *)conditions, key, alternatives) {
		const json_t *value = json_object_get(params, key);

		if (!value || !fulfils_any(alternatives, value))
			return false;
	}
	return true;
}
