#include "study/knobs/knobs_types.h"

#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"

const char *const knobs_whats[KNOBS_WHATS] = {
    [KNOBS_OF_WHOLE] = "whole", [KNOBS_ALONE] = "alone", [KNOBS_WITHOUT] = "without"};

const char *const knob_verdicts[KNOB_VERDICTS] = {
    [KNOB_NEEDED] = "needed",	  [KNOB_HELPS] = "helps",	  [KNOB_WORSE] = "worse",
    [KNOB_MIXED] = "mixed",	  [KNOB_NO_EFFECT] = "no effect", [KNOB_UNDECIDED] = "undecided",
    [KNOB_UNTESTED] = "untested",
};

const char *const smallest_verdicts[SMALLEST_VERDICTS] = {
    [SMALLEST_FOUND] = "found", [SMALLEST_WHOLE] = "whole",	    [SMALLEST_NOTHING] = "nothing",
    [SMALLEST_WORSE] = "worse", [SMALLEST_UNDECIDED] = "undecided",
};

const struct knobs *knobs_of(const struct study *s)
{
	return s->plan;
}

struct knobs *knobs_plan_of(struct study *s)
{
	return s->plan;
}

struct knob *knobs_add_knob(struct knobs *k)
{
	k->knob = grow_or_abort(k->knob, k->knobs, sizeof(*k->knob));
	k->knob[k->knobs] = (struct knob){.id = NULL};
	return &k->knob[k->knobs++];
}

bool knob_is_shields(const struct knob *knob)
{
	return !strcmp(knob->key, "shields");
}

size_t knobs_add_arm(struct knobs *k, const char *name, bool *has)
{
	k->arm = grow_or_abort(k->arm, k->arms, sizeof(*k->arm));
	k->arm[k->arms] = (struct knobs_arm){fs_path("%s", name), has != NULL,
					     has ? has : or_abort(calloc(k->knobs + 1, sizeof(*has)))};
	return k->arms++;
}

bool knobs_is_candidate(const struct knobs_arm *arm)
{
	return !strncmp(arm->name, KNOBS_CANDIDATE, strlen(KNOBS_CANDIDATE));
}

size_t knobs_find_arm(const struct knobs *k, const char *name)
{
	size_t i = 0;

	while (i < k->arms && strcmp(k->arm[i].name, name) != 0)
		i++;
	return i;
}

size_t knobs_find_pair(const struct knobs *k, enum knobs_what what, size_t knob)
{
	size_t i = 0;

	while (i < k->pairs && (k->pair[i].what != what || (what != KNOBS_OF_WHOLE && k->pair[i].knob != knob)))
		i++;
	return i;
}

const struct comparison *knobs_compared(const struct knobs *k, enum knobs_what what, size_t knob)
{
	const size_t i = knobs_find_pair(k, what, knob);

	return k->result && i < k->pairs ? &k->result->compared[i] : NULL;
}

void knobs_clear_result(struct knobs *k)
{
	for (size_t i = 0; k->result && i < k->pairs; i++)
		comparison_free(&k->result->compared[i]);
	if (k->result) {
		free(k->result->compared);
		free(k->result->verdict);
		free(k->result->knob);
	}
	free(k->result);
	k->result = NULL;
}
