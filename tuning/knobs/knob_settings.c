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

/* `value` is stolen. `with`: what it is for, or NULL. */
static void add_knob_setting(json_t *list, const struct setting *s, const struct setting *with, json_t *name,
			     json_t *value)
{
	const char *cost = knob_find(s->key)->cost;
	json_t *setting = json_pack("{s:o}", s->key, value);

	if (with)
		json_object_set_new(setting, with->key, value_json(with->value));
	json_array_append_new(list,
			      or_abort(json_pack("{s:s, s:o, s:o, s:s, s:s}", "knob", s->key, "name", name, "setting",
						 setting, "cost", cost ? cost : "", "folder", s->file->folder)));
}

/* Independent files that are listed under the same key. */
static void add_files(json_t *list, const struct setting *s, const struct setting *with)
{
	for (size_t i = 0; i < s->value->count; i++) {
		const char *name = s->value->keys[i]->scalar;

		add_knob_setting(list, s, with, json_sprintf("%s %s", s->key, name),
				 json_pack("{s:o}", name, value_json(s->value->items[i])));
	}
}

json_t *knob_settings_plan(const struct plan *plan, const struct profile *profile)
{
	const struct setting *cards = profile_get(profile, "interfaces");
	json_t *all = plan_to_json(plan), *list = json_array();

	for (size_t i = 0; i < profile->setting_count; i++) {
		const struct setting *s = &profile->settings[i];
		const struct knob *k = knob_find(s->key);
		const struct setting *with = k->of_cards ? cards : NULL;

		if (s == cards || s->left_out)
			continue;
		if (k->each_name)
			add_files(list, s, with);
		else
			add_knob_setting(list, s, with, json_string(s->key), value_json(s->value));
	}
	json_object_set_new(all, "settings", list);
	return all;
}
