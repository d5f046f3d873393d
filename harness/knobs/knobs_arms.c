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

/* All ids but that of a knob, and of those that are nothing without it. */
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

static void add_knob(struct knobs *k, const json_t *knob, const char *shields)
{
	const char *id = json_text(knob, "id");
	char *alone = fs_path("alone-%s", id), *without = fs_path("without-%s", id);
	char *base = is_upon_shields(knob) ? fs_path("alone-%s", shields) : fs_path("%s", KNOBS_NONE);

	knobs_add_arm(k, alone, is_upon_shields(knob) ? json_pack("[s, s]", shields, id) : json_pack("[s]", id));
	knobs_add_arm(k, without, all_without(k, knob));
	add_comparison(k, id, "alone", base, alone);
	add_comparison(k, id, "without", KNOBS_WHOLE, without);
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
