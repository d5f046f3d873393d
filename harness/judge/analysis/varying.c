#include "judge/analysis/varying.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "files/rundir/flows.h"

bool varying_is_kind(const char *key)
{
	return !strcmp(flows_bare_key(key), "kernel") || !strcmp(flows_bare_key(key), "transport");
}

/* The kernels and transports of a point. */
static char *kinds_in(const json_t *params)
{
	char *kind = NULL;
	size_t size;
	FILE *out = or_abort(open_memstream(&kind, &size));
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)params, key, value)
		if (varying_is_kind(key))
			fprintf(out, "%s=%s ", key, json_is_string(value) ? json_string_value(value) : "");
	fclose(out);
	return or_abort(kind);
}

/* Where values of a setting are compared: among all points, or among those of a kind. */
static char *scope_of(const char *kind, const char *key)
{
	return fs_path("%s%s", varying_is_kind(key) ? "" : kind, key);
}

static void compare_settings(struct spread *spread, const json_t *params)
{
	char *kind = kinds_in(params);
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)params, key, value) {
		char *scope = scope_of(kind, key);

		spread_add(spread, scope, value);
		free(scope);
	}
	free(kind);
}

/* Add to the set `keys` those settings of a point that vary, either the kernels and transports or the others. */
static void add_varying(json_t *keys, const struct spread *spread, const json_t *params, bool kinds)
{
	char *kind = kinds_in(params);
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)params, key, value) {
		char *scope = scope_of(kind, key);

		if (varying_is_kind(key) == kinds && spread_differs(spread, scope))
			json_object_set_new(keys, key, json_true());
		free(scope);
	}
	free(kind);
}

json_t *varying_keys(const json_t *const *params, size_t count)
{
	struct spread spread = spread_new();
	json_t *keys = json_object();

	for (size_t i = 0; i < count; i++)
		compare_settings(&spread, params[i]);
	for (int others = 0; others < 2; others++)
		for (size_t i = 0; i < count; i++)
			add_varying(keys, &spread, params[i], !others);
	spread_free(&spread);
	return keys;
}

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
