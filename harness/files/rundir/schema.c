#include "files/rundir/schema.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"

#define SCHEMA 1

#define OBJECT	(1u << JSON_OBJECT)
#define ARRAY	(1u << JSON_ARRAY)
#define STRING	(1u << JSON_STRING)
#define INTEGER (1u << JSON_INTEGER)
#define BOOLEAN (1u << JSON_TRUE | 1u << JSON_FALSE)

struct key {
	const char *name;
	unsigned types;
};

static const struct key run_keys[] = {
    {"name", STRING},  {"status", STRING}, {"version", STRING}, {"argv", ARRAY},     {"hosts", OBJECT},
    {"clock", OBJECT}, {"valid", BOOLEAN}, {"reasons", ARRAY},	{"warnings", ARRAY}, {NULL, 0},
};
static const struct key resolved_keys[] = {{"name", STRING}, {"kernels", OBJECT}, {"points", ARRAY}, {NULL, 0}};
static const struct key point_keys[] = {{"id", INTEGER}, {"outcome", STRING}, {"why", STRING}, {NULL, 0}};
static const struct key counters_keys[] = {{"source", OBJECT}, {"sink", OBJECT}, {NULL, 0}};
static const struct key data_keys[] = {{"metrics", OBJECT}, {"histograms", OBJECT}, {NULL, 0}};
static const struct key summary_keys[] = {{"points", ARRAY}, {"valid", BOOLEAN}, {NULL, 0}};
static const struct key claims_keys[] = {{"claims", ARRAY}, {NULL, 0}};
static const struct key no_keys[] = {{NULL, 0}};

/* points/<nnnn>/summary.json is a part of summary.json, not one itself. */
static const struct {
	const char *file;
	const struct key *keys;
	bool has_schema;
} documents[] = {
    [DOC_RUN] = {"run.json", run_keys, true},
    [DOC_RESOLVED] = {"resolved.json", resolved_keys, true},
    [DOC_PARAMS] = {"params.json", no_keys, false},
    [DOC_POINT] = {"point.json", point_keys, true},
    [DOC_COUNTERS] = {"counters.json", counters_keys, true},
    [DOC_DATA] = {"data.json", data_keys, true},
    [DOC_SUMMARY] = {"summary.json", summary_keys, true},
    [DOC_CLAIMS] = {"claims.json", claims_keys, true},
};

int schema_document(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++)
		if (!strcmp(name, documents[i].file) && (i != DOC_SUMMARY || !slash))
			return (int)i;
	return -1;
}

static int schema_refuse(const char *path, struct err *e, const char *format, const char *key)
{
	return err_set(e, -EINVAL, STATUS_USAGE, path, NULL, format, key);
}

static int check_schema(const json_t *value, const char *path, struct err *e)
{
	const json_t *schema = json_object_get(value, "schema");

	if (!json_is_integer(schema) || json_integer_value(schema) < 1)
		return schema_refuse(path, e, "it has no number of its %s", "schema");
	if (json_integer_value(schema) > SCHEMA)
		return err_set(e, -EINVAL, STATUS_USAGE, path, NULL,
			       "its schema is %" JSON_INTEGER_FORMAT ", from a newer kblat; this one knows %d",
			       json_integer_value(schema), SCHEMA);
	return 0;
}

/* Tables have a column for each. */
static bool has_too_many_settings(const json_t *points)
{
	json_t *all = json_object(), *value;
	const json_t *point;
	const char *key;
	bool are_too_many;
	size_t i;

	json_array_foreach (points, i, point) {
		json_object_foreach (json_object_get(point, "params"), key, value) {
			json_object_set_new(all, key, json_true());
		}
	}
	are_too_many = json_object_size(all) > SCHEMA_SETTINGS_MOST;
	json_decref(all);
	return are_too_many;
}

/* So that a point can be found by its id without looking at all of them. */
static bool are_ids_ascending(const json_t *points)
{
	json_int_t last = INT64_MIN;
	const json_t *point;
	size_t i;

	json_array_foreach (points, i, point) {
		json_int_t id = json_integer_value(json_object_get(point, "id"));

		if (i && id <= last)
			return false;
		last = id;
	}
	return true;
}

static int check_points(const json_t *points, const char *path, struct err *e)
{
	if (json_array_size(points) > SCHEMA_POINTS_MOST)
		return err_set(e, -EINVAL, STATUS_USAGE, path, NULL, "it has %zu points; the limit is %d",
			       json_array_size(points), SCHEMA_POINTS_MOST);
	if (has_too_many_settings(points))
		return err_set(e, -EINVAL, STATUS_USAGE, path, NULL, "its points have more than %d settings",
			       SCHEMA_SETTINGS_MOST);
	return are_ids_ascending(points) ? 0 : schema_refuse(path, e, "the %s of its points are not ascending", "ids");
}

static int check(enum document document, const json_t *value, const char *path, struct err *e)
{
	if (!json_is_object(value))
		return schema_refuse(path, e, "it is not a JSON %s", "object");
	if (documents[document].has_schema && check_schema(value, path, e))
		return -EINVAL;
	for (const struct key *k = documents[document].keys; k->name; k++) {
		const json_t *found = json_object_get(value, k->name);

		if (!found)
			return schema_refuse(path, e, "'%s' is missing", k->name);
		if (!(k->types & 1u << json_typeof(found)))
			return schema_refuse(path, e, "'%s' has the wrong type", k->name);
	}
	return check_points(json_object_get(value, "points"), path, e);
}

json_t *schema_read(enum document document, const char *path, struct err *e)
{
	json_t *value = json_read(path, e);

	if (value && check(document, value, path, e)) {
		json_decref(value);
		return NULL;
	}
	return value;
}
