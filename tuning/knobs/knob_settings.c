#include "tuning/knobs/knob_settings.h"

#include <string.h>

#include "common/or_abort.h"
#include "tuning/knobs/knob_values.h"
#include "tuning/knobs/knobs.h"

static json_t *value_json(const struct ynode *n)
{
	json_t *all;

	if (n->kind == YNODE_SCALAR)
		return json_string(n->scalar);
	all = n->kind == YNODE_SEQUENCE ? json_array() : json_object();
	for (size_t i = 0; i < n->count; i++) {
		if (n->kind == YNODE_SEQUENCE)
			json_array_append_new(all, value_json(n->items[i]));
		else
			json_object_set_new(all, n->keys[i]->scalar, value_json(n->items[i]));
	}
	return all;
}

static const struct knob *find_knob(const char *key)
{
	const struct knob *k = knobs;

	while (k->key && (!k->help || strcmp(k->key, key) != 0))
		k++;
	return k;
}

/* `value` is stolen. */
static void add_knob_setting(json_t *list, const struct setting *s, json_t *name, json_t *value)
{
	const char *cost = find_knob(s->key)->cost;

	json_array_append_new(
	    list, or_abort(json_pack("{s:s, s:o, s:{s:o}, s:s, s:s}", "knob", s->key, "name", name, "setting", s->key,
				     value, "cost", cost ? cost : "", "folder", s->file->folder)));
}

/* Independent files that are listed under the same key. */
static void add_files(json_t *list, const struct setting *s)
{
	for (size_t i = 0; i < s->value->count; i++) {
		const char *name = s->value->keys[i]->scalar;

		add_knob_setting(list, s, json_sprintf("%s %s", s->key, name),
				 json_pack("{s:o}", name, value_json(s->value->items[i])));
	}
}

json_t *knob_settings_plan(const struct plan *plan, const struct profile *profile)
{
	json_t *all = plan_to_json(plan), *list = json_array();

	for (size_t i = 0; i < profile->setting_count; i++) {
		const struct setting *s = &profile->settings[i];

		if (find_knob(s->key)->plan == knob_values_plan_files)
			add_files(list, s);
		else
			add_knob_setting(list, s, json_string(s->key), value_json(s->value));
	}
	json_object_set_new(all, "settings", list);
	return all;
}
