#include "report/runs_labels.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/spread.h"
#include "common/or_abort.h"
#include "report/labels.h"

#define KEYS_MAX 6 /* maximum number of settings in a label */

/* The kernels and transports of a point. */
static char *kinds_in(const json_t *settings)
{
	char *kind = NULL;
	size_t size;
	FILE *out = or_abort(open_memstream(&kind, &size));
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)settings, key, value)
		if (label_tells_kind(key))
			fprintf(out, "%s=%s ", key, json_is_string(value) ? json_string_value(value) : "");
	fclose(out);
	return or_abort(kind);
}

/* Where values of a setting are compared: among all points, or among those of a kind. */
static char *scope_of(const char *kind, const char *key)
{
	char *scope = NULL;

	if (asprintf(&scope, "%s%s", label_tells_kind(key) ? "" : kind, key) < 0)
		abort();
	return scope;
}

static void compare_settings(struct spread *spread, const json_t *settings)
{
	char *kind = kinds_in(settings);
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)settings, key, value) {
		char *scope = scope_of(kind, key);

		spread_add(spread, scope, value);
		free(scope);
	}
	free(kind);
}

/* Add to the set `keys` those settings of a point that vary, either the kernels and transports or the others. */
static void add_varying(json_t *keys, const struct spread *spread, const json_t *settings, bool kinds)
{
	char *kind = kinds_in(settings);
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)settings, key, value) {
		char *scope = scope_of(kind, key);

		if (label_tells_kind(key) == kinds && json_object_size(keys) < KEYS_MAX &&
		    spread_differs(spread, scope))
			json_object_set_new(keys, key, json_true());
		free(scope);
	}
	free(kind);
}

/* A set of keys, in the order of a label. */
static json_t *varying_keys(json_t *const *settings, size_t count)
{
	struct spread spread = spread_new();
	json_t *keys = json_object();

	for (size_t i = 0; i < count; i++)
		compare_settings(&spread, settings[i]);
	for (int others = 0; others < 2; others++)
		for (size_t i = 0; i < count; i++)
			add_varying(keys, &spread, settings[i], !others);
	spread_free(&spread);
	return keys;
}

static char *label_from_keys(const json_t *settings, json_t *keys)
{
	char *label = NULL;
	size_t size;
	FILE *out = or_abort(open_memstream(&label, &size));
	const char *key, *separator = "";
	json_t *is_key;

	json_object_foreach (keys, key, is_key) {
		const json_t *value = json_object_get(settings, key);

		if (!value)
			continue;
		fputs(separator, out);
		label_setting(out, key, value);
		separator = ", ";
	}
	fclose(out);
	return or_abort(label);
}

void runs_labels(json_t *const *settings, size_t count, char **labels)
{
	json_t *keys = varying_keys(settings, count);

	for (size_t i = 0; i < count; i++)
		labels[i] = label_from_keys(settings[i], keys);
	json_decref(keys);
}
