#include "knobs/knobs_smallest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "campaign/campaign_child.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "knobs/knobs_arms.h"
#include "knobs/knobs_block.h"
#include "knobs/knobs_judge.h"
#include "knobs/knobs_profile.h"

/* --- candidates --- */

struct helper {
	const char *id;
	double effect; /* the largest improvement of any quantity with the knob alone, in per cent */
};

static double effect_alone(const json_t *result, const char *id)
{
	const json_t *point, *quantity;
	double most = 0;
	size_t i, q;

	json_array_foreach (json_object_get(knobs_comparison(result, id, "alone"), "points"), i, point)
		json_array_foreach (json_object_get(point, "quantities"), q, quantity)
			if (!strcmp(json_text(quantity, "verdict"), "improvement"))
				most = fmax(most, fabs(json_number_or_nan(quantity, "effect_percent")));
	return most;
}

static int by_effect(const void *a, const void *b)
{
	double x = ((const struct helper *)a)->effect, y = ((const struct helper *)b)->effect;

	return (x < y) - (x > y);
}

/* The knobs that help but that others can replace, most helpful first. */
static struct helper *find_helpers(const struct knobs *k, const json_t *result, size_t *count)
{
	const json_t *knob;
	struct helper *list = NULL;
	size_t i;

	*count = 0;
	json_array_foreach (json_object_get(k->j, "knobs"), i, knob) {
		const char *id = json_text(knob, "id");

		if (strcmp(knobs_verdict(result, id), "helps") != 0)
			continue;
		list = grow_or_abort(list, *count, sizeof(*list));
		list[(*count)++] = (struct helper){id, effect_alone(result, id)};
	}
	if (list)
		qsort(list, *count, sizeof(*list), by_effect);
	return list;
}

/* Is a knob among the first `helpers`, or needed anyway? Knobs that are better for one quantity and
 * worse for another are kept. */
static bool is_in_candidate(const json_t *result, const char *id, const struct helper *helper, size_t helpers)
{
	const char *verdict = knobs_verdict(result, id);

	for (size_t i = 0; i < helpers; i++)
		if (!strcmp(helper[i].id, id))
			return true;
	return !strcmp(verdict, "needed") || !strcmp(verdict, "mixed");
}

/* The knobs of a candidate in the profile's order, with the shields if one of them depends on these. */
static json_t *candidate(const struct knobs *k, const json_t *result, const struct helper *helper, size_t helpers)
{
	const json_t *all = json_object_get(k->j, "knobs"), *knob;
	json_t *ids = json_array();
	bool upon_shields = false;
	size_t i;

	json_array_foreach (all, i, knob)
		upon_shields |= json_is_true(json_object_get(knob, "shields")) &&
				is_in_candidate(result, json_text(knob, "id"), helper, helpers);
	json_array_foreach (all, i, knob)
		if (is_in_candidate(result, json_text(knob, "id"), helper, helpers) ||
		    (upon_shields && profile_is_shields(knob)))
			json_array_append(ids, json_object_get(knob, "id"));
	return ids;
}

static size_t count_tested(const struct knobs *k)
{
	const json_t *knob;
	size_t i, n = 0;

	json_array_foreach (json_object_get(k->j, "knobs"), i, knob)
		n += json_is_true(json_object_get(knob, "tested"));
	return n;
}

/* --- answers --- */

/* "governor, tasks". The caller frees. */
static char *names_of(const struct knobs *k, const json_t *ids)
{
	char *text = fs_path("%s", "");

	for (size_t i = 0; i < json_array_size(ids); i++) {
		const json_t *knob = knobs_find(k, json_string_value(json_array_get(ids, i)));
		char *longer = fs_path("%s%s%s", text, *text ? ", " : "", json_text(knob, "name"));

		free(text);
		text = longer;
	}
	return text;
}

/* `ids` and `steps` are stolen; no ids: none was found. */
static void conclude_smallest(struct knobs *k, const char *verdict, json_t *ids, json_t *steps, const char *format)
{
	char *names = names_of(k, ids);

	json_object_set_new(k->j, "smallest",
			    json_pack("{s:o, s:s, s:o?, s:o}", "answer",
				      json_sprintf(format, json_text(k->j, "profile"), names), "verdict", verdict,
				      "knobs", ids, "steps", steps));
	free(names);
}

/* No knob is needed, and none helps. */
static void conclude_without(struct knobs *k, const json_t *result, json_t *steps)
{
	const char *whole = json_text(knobs_comparison(result, "", "whole"), "verdict");
	bool worse = !strcmp(whole, "regression"), same = !strcmp(whole, "equivalent");
	const json_t *knob;
	size_t i;

	json_array_foreach (json_object_get(result, "knobs"), i, knob) {
		worse |= !strcmp(json_text(knob, "verdict"), "worse");
		same &=
		    !strcmp(json_text(knob, "verdict"), "no effect") || !strcmp(json_text(knob, "verdict"), "untested");
	}
	if (worse)
		conclude_smallest(k, "worse", NULL, steps, "no knob of %s was found to help, and some make it slower");
	else if (same)
		conclude_smallest(k, "nothing", json_array(), steps, "no knob of %s has an effect here");
	else
		conclude_smallest(
		    k, "undecided", NULL, steps,
		    "no knob of %s was found to have an effect, but it was not shown that none has; more blocks show "
		    "smaller effects");
}

/* --- measuring a candidate --- */

/* The arm of these ids, with a unique name, because further blocks may lead to other candidates.
 * The caller frees. */
static char *candidate_arm(const struct knobs *k, const json_t *ids)
{
	const json_t *arm;
	size_t i, n = 0;

	json_array_foreach (json_object_get(k->j, "arms"), i, arm) {
		if (strncmp(json_text(arm, "name"), KNOBS_CANDIDATE, strlen(KNOBS_CANDIDATE)) != 0)
			continue;
		if (json_equal(json_object_get(arm, "knobs"), ids))
			return fs_path("%s", json_text(arm, "name"));
		n++;
	}
	return fs_path("%s%zu", KNOBS_CANDIDATE, n);
}

/* 1: it is as good as the whole profile; 0: it is not, or that is unknown; or a negative errno. */
static int try_candidate(struct knobs *k, const struct knobs_choice *c, const json_t *ids, json_t *steps, struct err *e)
{
	char *arm = candidate_arm(k, ids);
	json_t *arms = json_pack("[s, s]", KNOBS_WHOLE, arm), *verdict = NULL;
	size_t asked = (size_t)json_integer_value(json_object_get(knobs_options(k), "blocks"));
	int rc = 0, suffices = 0;

	if (!knobs_arm(k, arm))
		knobs_add_arm(k, arm, json_copy((json_t *)ids));
	rc = arms_write_profile(k, knobs_arm(k, arm), e) ?: blocks_measure(k, arm, arms, asked, 0, e);
	if (!rc && knobs_blocks_done(k, arm))
		verdict = knobs_compare(k, arm, KNOBS_WHOLE, arm, c, e);
	if (!rc && verdict) {
		suffices = !strcmp(json_text(verdict, "verdict"), "no regression");
		json_array_append_new(steps, json_pack("{s:s, s:O, s:O, s:O}", "arm", arm, "knobs", ids, "verdict",
						       json_object_get(verdict, "verdict"), "answer",
						       json_object_get(verdict, "answer")));
	}
	json_decref(verdict);
	json_decref(arms);
	free(arm);
	return rc ? rc : e->status ? -1 : suffices;
}

static int try_candidates(struct knobs *k, const struct knobs_choice *c, const json_t *result, struct err *e)
{
	json_t *steps = json_array(), *ids = NULL;
	size_t helpers;
	struct helper *helper = find_helpers(k, result, &helpers);
	int found = 0;
	bool whole = false;

	for (size_t n = 0; n <= helpers && !found && !whole && !child_is_interrupted(); n++) {
		json_decref(ids);
		ids = candidate(k, result, helper, n);
		if (!json_array_size(ids))
			continue;
		whole = json_array_size(ids) == count_tested(k);
		if (!whole)
			found = try_candidate(k, c, ids, steps, e);
	}
	free(helper);
	if (!json_array_size(ids))
		conclude_without(k, result, steps);
	else if (found > 0)
		conclude_smallest(k, "found", json_incref(ids), steps, "of %s you need: %s");
	else if (whole)
		conclude_smallest(k, "whole", json_incref(ids), steps, "of %s you need all knobs: %s");
	else
		conclude_smallest(k, "undecided", json_incref(ids), steps,
				  "of %s these help: %s; it was not shown that they suffice");
	json_decref(ids);
	return found < 0 ? found : 0;
}

int smallest_find(struct knobs *k, const struct knobs_choice *c, struct err *e)
{
	return try_candidates(k, c, json_object_get(k->j, "result"), e);
}

/* --- the profile --- */

int smallest_write(const struct knobs *k, struct err *e)
{
	const json_t *smallest = json_object_get(k->j, "smallest"), *ids = json_object_get(smallest, "knobs");
	char *folder = fs_path("%s/smallest", k->path),
	     *title = fs_path("The knobs of %s that are needed", json_text(k->j, "profile"));
	char *comment = fs_path("# %s\n# Measured by %s, in %s.\n", json_text(smallest, "answer"),
				json_text(k->j, "name"), k->path);
	int rc = json_is_array(ids) ? profile_write(folder, title, comment, json_object_get(k->j, "knobs"), ids, e) : 0;

	free(comment);
	free(title);
	free(folder);
	return rc;
}

enum status smallest_status(const json_t *smallest)
{
	static const struct {
		const char *verdict;
		enum status status;
	} of[] = {{"found", STATUS_OK}, {"whole", STATUS_OK}, {"nothing", STATUS_OK}, {"worse", STATUS_NO}};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		if (!strcmp(json_text(smallest, "verdict"), of[i].verdict))
			return of[i].status;
	return STATUS_UNDECIDED;
}
