#include "study/knobs/knobs_smallest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "study/knobs/knobs_blocks.h"
#include "study/knobs/knobs_plan.h"
#include "study/knobs/knobs_profile.h"
#include "study/runner.h"
#include "study/study_record.h"

/* --- candidates --- */

struct helper {
	size_t knob;
	double effect; /* the largest improvement of any quantity with the knob alone, in per cent */
};

static double effect_alone(const struct knobs *k, size_t knob)
{
	const struct comparison *c = knobs_compared(k, KNOBS_ALONE, knob);
	double most = 0;

	for (size_t i = 0; c && i < c->point_count; i++)
		for (size_t q = 0; q < c->points[i].quantity_count; q++)
			if (c->points[i].quantities[q].verdict == COMPARE_IMPROVEMENT)
				most = fmax(most, fabs(c->points[i].quantities[q].effect.percent));
	return most;
}

static int by_effect(const void *a, const void *b)
{
	double x = ((const struct helper *)a)->effect, y = ((const struct helper *)b)->effect;

	return (x < y) - (x > y);
}

/* The knobs that help but that others can replace, most helpful first. */
static struct helper *find_helpers(const struct knobs *k, size_t *count)
{
	struct helper *list = NULL;

	*count = 0;
	for (size_t i = 0; i < k->knobs; i++) {
		if (k->result->knob[i] != KNOB_HELPS)
			continue;
		list = grow_or_abort(list, *count, sizeof(*list));
		list[(*count)++] = (struct helper){i, effect_alone(k, i)};
	}
	if (list)
		qsort(list, *count, sizeof(*list), by_effect);
	return list;
}

/* Knobs that are needed, and those that are better for one quantity and worse for another; the first `helpers`; and the
 * shields if one of them depends on these. NULL: none of them. */
static bool *candidate(const struct knobs *k, const struct helper *helper, size_t helpers)
{
	bool *has = or_abort(calloc(k->knobs + 1, sizeof(*has))), in_shields = false, any = false;

	for (size_t i = 0; i < k->knobs; i++)
		has[i] = k->result->knob[i] == KNOB_NEEDED || k->result->knob[i] == KNOB_MIXED;
	for (size_t i = 0; i < helpers; i++)
		has[helper[i].knob] = true;
	for (size_t i = 0; i < k->knobs; i++) {
		in_shields |= has[i] && k->knob[i].in_shields;
		any |= has[i];
	}
	for (size_t i = 0; i < k->knobs; i++)
		has[i] |= in_shields && knob_is_shields(&k->knob[i]);
	if (any)
		return has;
	free(has);
	return NULL;
}

static size_t count_knobs(const struct knobs *k, const bool *has)
{
	size_t n = 0;

	for (size_t i = 0; i < k->knobs; i++)
		n += has ? has[i] : k->knob[i].tested;
	return n;
}

/* --- answers --- */

/* "governor, tasks"; NULL: none. The caller frees. */
static char *names_of(const struct knobs *k, const bool *has)
{
	char *list = NULL;

	for (size_t i = 0; has && i < k->knobs; i++)
		if (has[i])
			text_list_add(&list, ", ", "%s", k->knob[i].name);
	return list;
}

/* `has` (taken): the knobs of the profile; NULL: there is none. The answer is `before`, the profile, `after` and the
 * names of the knobs, `end`. */
static void conclude_smallest(struct knobs *k, enum smallest_verdict verdict, bool *has, const char *before,
			      const char *after, const char *end)
{
	char *names = names_of(k, has);

	k->smallest.verdict = verdict;
	k->smallest.has = has;
	k->smallest.answer = fs_path("%s %s %s%s%s", before, k->profile, after, names ? names : "", end);
	free(names);
}

/* No knob is needed, and none helps. */
static void conclude_without(struct knobs *k)
{
	const size_t whole = knobs_find_pair(k, KNOBS_OF_WHOLE, 0);
	const enum compare_verdict verdict = whole < k->pairs ? k->result->verdict[whole] : COMPARE_UNDECIDED;
	bool worse = verdict == COMPARE_REGRESSION, same = verdict == COMPARE_EQUIVALENT;

	for (size_t i = 0; i < k->knobs; i++) {
		worse |= k->result->knob[i] == KNOB_WORSE;
		same &= k->result->knob[i] == KNOB_NO_EFFECT || k->result->knob[i] == KNOB_UNTESTED;
	}
	if (worse)
		conclude_smallest(k, SMALLEST_WORSE, NULL, "no knob of", "was found to help, and some make it slower",
				  "");
	else if (same)
		conclude_smallest(k, SMALLEST_NOTHING, or_abort(calloc(k->knobs + 1, sizeof(bool))), "no knob of",
				  "has an effect here", "");
	else
		conclude_smallest(k, SMALLEST_UNDECIDED, NULL, "no knob of",
				  "was found to have an effect, but it was not shown that none has; more blocks show "
				  "smaller effects",
				  "");
}

/* --- measuring a candidate --- */

/* The arm of these knobs, with a unique name, because further blocks may lead to other candidates. */
static size_t candidate_arm(struct knobs *k, const bool *has)
{
	size_t n = 0, arm;
	char *name;
	bool *copy;

	for (size_t i = 0; i < k->arms; i++) {
		if (!knobs_is_candidate(&k->arm[i]))
			continue;
		if (!memcmp(k->arm[i].has, has, k->knobs * sizeof(*has)))
			return i;
		n++;
	}
	copy = or_abort(calloc(k->knobs + 1, sizeof(*copy)));
	memcpy(copy, has, k->knobs * sizeof(*has));
	name = fs_path("%s%zu", KNOBS_CANDIDATE, n);
	arm = knobs_add_arm(k, name, copy);
	free(name);
	return arm;
}

static void add_step(struct knobs *k, size_t arm, const struct comparison *c)
{
	struct knobs_smallest *s = &k->smallest;

	s->step = grow_or_abort(s->step, s->steps, sizeof(*s->step));
	s->step[s->steps++] = (struct smallest_step){arm, c->verdict, fs_path("%s", c->answer)};
}

/* 1: it is as good as the whole profile; 0: it is not, or that is unknown; or a negative errno. */
static int try_candidate(struct study *s, const struct knobs_choice *c, const bool *has, struct err *e)
{
	struct knobs *k = knobs_plan_of(s);
	const size_t arm = candidate_arm(k, has), whole = knobs_find_arm(k, KNOBS_WHOLE);
	struct knobs_arms_of arms = blocks_pair(k, arm);
	const char *stage = k->arm[arm].name;
	struct comparison compared;
	int rc = arms_write_profile(s, &k->arm[arm], e) ?: study_record_save(s, e), suffices = 0;

	rc = rc ?: blocks_measure(s, stage, &arms, k->blocks, 0, e);
	if (!rc && blocks_done(s, stage) && !(rc = knobs_compare(s, stage, whole, arm, c, &compared, e))) {
		suffices = compared.verdict == OUTCOME_NONE;
		add_step(k, arm, &compared);
		comparison_free(&compared);
	}
	free(arms.arm);
	return rc ? rc : suffices;
}

static void conclude_candidates(struct knobs *k, bool *has, bool found, bool whole)
{
	if (!has)
		conclude_without(k);
	else if (found)
		conclude_smallest(k, SMALLEST_FOUND, has, "of", "you need: ", "");
	else if (whole)
		conclude_smallest(k, SMALLEST_WHOLE, has, "of", "you need all knobs: ", "");
	else
		conclude_smallest(k, SMALLEST_UNDECIDED, has, "of",
				  "these help: ", "; it was not shown that they suffice");
}

int smallest_find(struct study *s, const struct knobs_choice *c, struct err *e)
{
	struct knobs *k = knobs_plan_of(s);
	size_t helpers;
	struct helper *helper = find_helpers(k, &helpers);
	bool *has = NULL, whole = false;
	int found = 0;

	for (size_t n = 0; n <= helpers && !found && !whole && !runner_is_interrupted(); n++) {
		free(has);
		has = candidate(k, helper, n);
		if (!has)
			continue;
		whole = count_knobs(k, has) == count_knobs(k, NULL);
		if (!whole)
			found = try_candidate(s, c, has, e);
	}
	free(helper);
	conclude_candidates(k, has, found > 0, whole);
	return found < 0 ? found : 0;
}

/* --- the profile --- */

int smallest_write(const struct study *s, struct err *e)
{
	const struct knobs *k = knobs_of(s);
	char *folder = fs_path("%s/smallest", s->path), *title = fs_path("The knobs of %s that are needed", k->profile);
	char *comment = fs_path("# %s\n# Measured by %s, in %s.\n", k->smallest.answer, s->name, s->path);
	int rc = k->smallest.has ? profile_write(folder, title, comment, k, k->smallest.has, e) : 0;

	free(comment);
	free(title);
	free(folder);
	return rc;
}

enum status smallest_status(const struct knobs_smallest *smallest)
{
	static const enum status of[SMALLEST_VERDICTS] = {
	    [SMALLEST_FOUND] = STATUS_OK,
	    [SMALLEST_WHOLE] = STATUS_OK,
	    [SMALLEST_NOTHING] = STATUS_OK,
	    [SMALLEST_WORSE] = STATUS_NO,
	    [SMALLEST_UNDECIDED] = STATUS_UNDECIDED,
	};

	return smallest->answer ? of[smallest->verdict] : STATUS_UNDECIDED;
}
