#include "compare/compare_settings.h"

#include "common/json.h"
#include "rundir/flows.h"

/* Existing entries are kept. */
static void settings_add_defaults(json_t *all, const json_t *more)
{
	const char *key;
	json_t *value, *known;

	json_object_foreach ((json_t *)more, key, value) {
		known = json_object_get(all, key);
		if (!known)
			json_object_set_new(all, key, json_deep_copy(value));
		else if (json_is_object(known) && json_is_object(value))
			settings_add_defaults(known, value);
	}
}

json_t *compare_settings_defaults(const struct compare_runs *runs)
{
	json_t *all = json_object();

	for (size_t i = 0; i < runs->count; i++)
		settings_add_defaults(all, json_object_get(runs->run[i].run.resolved, "defaults"));
	return all;
}

static void add_missing(json_t *params, const char *flow, const json_t *defaults)
{
	char full[FLOWS_KEY_MAX];
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)defaults, key, value) {
		if (!json_object_get(params, flows_key(flow, key, full, sizeof(full))))
			json_object_set(params, full, value);
	}
}

/* The defaults of a flow's kernel or transport. */
static const json_t *defaults_of_choice(const json_t *defaults, const char *group, const json_t *params,
					const char *flow, const char *setting)
{
	const char *name = json_string_value(flows_get(params, flow, setting));

	return name ? json_object_get(json_object_get(defaults, group), name) : NULL;
}

json_t *compare_settings_of(const json_t *params, const json_t *defaults)
{
	json_t *all = json_copy((json_t *)params), *names = flows_names(params);
	const json_t *name;
	size_t i;

	add_missing(all, "", json_object_get(defaults, "point"));
	json_array_foreach (names, i, name) {
		const char *flow = json_string_value(name);

		add_missing(all, flow, json_object_get(defaults, "flow"));
		add_missing(all, flow, defaults_of_choice(defaults, "kernels", params, flow, "kernel"));
		add_missing(all, flow, defaults_of_choice(defaults, "transports", params, flow, "transport"));
	}
	json_decref(names);
	return all;
}
