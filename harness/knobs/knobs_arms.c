#include "knobs/knobs_arms.h"

#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/json.h"
#include "knobs/knobs_profile.h"

static bool is_upon_shields(const json_t *knob)
{
	return json_is_true(json_object_get(knob, "shields"));
}

static const char *shields_id(const struct knobs *k)
{
	const json_t *knob;
	size_t i;

	json_array_foreach (json_object_get(k->j, "knobs"), i, knob)
		if (profile_is_shields(knob))
			return json_text(knob, "id");
	return "";
}

/* All ids except for that of a knob and of those that have no effect without it. */
static json_t *all_without(const struct knobs *k, const json_t *left_out)
{
	bool shields = left_out && profile_is_shields(left_out);
	json_t *ids = json_array();
	const json_t *knob;
	size_t i;

	json_array_foreach (json_object_get(k->j, "knobs"), i, knob)
		if (knob != left_out && !(shields && is_upon_shields(knob)))
			json_array_append(ids, json_object_get(knob, "id"));
	return ids;
}

static void add_comparison(struct knobs *k, const char *knob, const char *what, const char *base, const char *with)
{
	json_array_append_new(
	    json_object_get(k->j, "comparisons"),
	    json_pack("{s:s, s:s, s:s, s:s}", "knob", knob, "what", what, "base", base, "with", with));
}

/* The ids among these that have an effect on this machine. */
static json_t *tested_of(const struct knobs *k, const json_t *ids)
{
	json_t *tested = json_array();
	const json_t *knob;
	size_t i;

	json_array_foreach (json_object_get(k->j, "knobs"), i, knob)
		if (json_is_true(json_object_get(knob, "tested")) && json_has_string(ids, json_text(knob, "id")))
			json_array_append(tested, json_object_get(knob, "id"));
	return tested;
}

/* The arm that is equivalent to these ids, or NULL. With two knobs, for example, one alone is the
 * same as the other one left out. */
static const char *find_alike(const struct knobs *k, const json_t *ids)
{
	json_t *tested = tested_of(k, ids);
	const char *found = NULL;
	const json_t *arm;
	size_t i;

	json_array_foreach (json_object_get(k->j, "arms"), i, arm) {
		json_t *other = tested_of(k, json_object_get(arm, "knobs"));

		if (!found && json_equal(tested, other))
			found = json_text(arm, "name");
		json_decref(other);
	}
	json_decref(tested);
	return found;
}

/* The arm with these ids (stolen): a new one of this name, unless there is an equivalent one. */
static const char *arm_with(struct knobs *k, const char *name, json_t *ids)
{
	const char *alike = find_alike(k, ids);

	if (alike) {
		json_decref(ids);
		return alike;
	}
	knobs_add_arm(k, name, ids);
	return json_text(knobs_arm(k, name), "name");
}

static void add_knob(struct knobs *k, const json_t *knob, const char *shields)
{
	const char *id = json_text(knob, "id");
	bool upon = is_upon_shields(knob);
	char *alone = fs_path("alone-%s", id), *without = fs_path("without-%s", id),
	     *base = fs_path("alone-%s", shields);

	add_comparison(k, id, "alone", upon ? arm_with(k, base, json_pack("[s]", shields)) : KNOBS_NONE,
		       arm_with(k, alone, upon ? json_pack("[s, s]", shields, id) : json_pack("[s]", id)));
	add_comparison(k, id, "without", KNOBS_WHOLE, arm_with(k, without, all_without(k, knob)));
	free(alone);
	free(without);
	free(base);
}

void arms_make(struct knobs *k)
{
	const char *shields = shields_id(k);
	const json_t *knob;
	size_t i;

	knobs_add_arm(k, KNOBS_NONE, NULL);
	knobs_add_arm(k, KNOBS_WHOLE, all_without(k, NULL));
	add_comparison(k, "", "whole", KNOBS_NONE, KNOBS_WHOLE);
	json_array_foreach (json_object_get(k->j, "knobs"), i, knob)
		if (json_is_true(json_object_get(knob, "tested")))
			add_knob(k, knob, shields);
}

int arms_write_profile(const struct knobs *k, const json_t *arm, struct err *e)
{
	const json_t *ids = json_object_get(arm, "knobs");
	char *folder = fs_path("%s/profiles/%s", k->path, json_text(arm, "name"));
	char *title = fs_path("%s of %s", json_text(arm, "name"), json_text(k->j, "profile"));
	int rc = ids ? profile_write(folder, title, NULL, json_object_get(k->j, "knobs"), ids, e) : 0;

	free(title);
	free(folder);
	return rc;
}

int arms_write_profiles(const struct knobs *k, struct err *e)
{
	const json_t *arm;
	size_t i;
	int rc = 0;

	json_array_foreach (json_object_get(k->j, "arms"), i, arm)
		rc = rc ?: arms_write_profile(k, arm, e);
	return rc;
}
