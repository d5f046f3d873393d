#include "analysis/spread.h"

struct spread spread_new(void)
{
	return (struct spread){json_object(), json_object()};
}

void spread_free(struct spread *s)
{
	json_decref(s->first);
	json_decref(s->differing);
}

void spread_add(struct spread *s, const char *key, const json_t *value)
{
	const json_t *first = json_object_get(s->first, key);

	if (!first)
		json_object_set(s->first, key, (json_t *)value);
	else if (!json_equal(first, value))
		json_object_set_new(s->differing, key, json_true());
}

bool spread_differs(const struct spread *s, const char *key)
{
	return json_object_get(s->differing, key) != NULL;
}
