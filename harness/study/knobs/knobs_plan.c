#include "study/knobs/knobs_plan.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "judge/compare/compare_verdict.h"
#include "measure/run/forecast.h"
#include "measure/run/run.h"
#include "study/knobs/knobs_blocks.h"
#include "study/knobs/knobs_judge.h"
#include "study/knobs/knobs_profile.h"
#include "study/study.h"

static bool *no_knobs(const struct knobs *k)
{
	return or_abort(calloc(k->knobs + 1, sizeof(bool)));
}

/* The shields, if a knob (k->knobs: there is none) has no effect without them; and the knob, if it is asked for. */
static bool *knobs_alone(const struct knobs *k, size_t knob, bool with_it)
{
	bool *has = no_knobs(k);

	for (size_t i = 0; i < k->knobs; i++)
		has[i] = (i == knob && with_it) || (knob_is_shields(&k->knob[i]) && k->knob[knob].in_shields);
	return has;
}

/* All except for a knob (k->knobs: there is none) and those that have no effect without it. */
static bool *all_without(const struct knobs *k, size_t left_out)
{
	const bool shields = left_out < k->knobs && knob_is_shields(&k->knob[left_out]);
	bool *has = no_knobs(k);

	for (size_t i = 0; i < k->knobs; i++)
		has[i] = i != left_out && !(shields && k->knob[i].in_shields);
	return has;
}

/* Does an arm have the same of the knobs that have an effect on this machine? */
static bool is_alike(const struct knobs *k, const struct knobs_arm *arm, const bool *has)
{
	for (size_t i = 0; i < k->knobs; i++)
		if (k->knob[i].tested && arm->has[i] != has[i])
			return false;
	return true;
}

/* The arm with these knobs (taken): a new one of this name, unless there is an equivalent one. With two knobs, for
 * example, one alone is the same as the other one left out. */
static size_t arm_with(struct knobs *k, const char *way, const char *id, bool *has)
{
	char *name;
	size_t i = 0;

	while (i < k->arms && !is_alike(k, &k->arm[i], has))
		i++;
	if (i < k->arms) {
		free(has);
		return i;
	}
	name = fs_path("%s-%s", way, id);
	i = knobs_add_arm(k, name, has);
	free(name);
	return i;
}

static void add_comparison(struct knobs *k, enum knobs_what what, size_t knob, size_t base, size_t with)
{
	k->pair = grow_or_abort(k->pair, k->pairs, sizeof(*k->pair));
	k->pair[k->pairs++] = (struct knobs_pair){what, knob, base, with};
}

static const char *shields_id(const struct knobs *k)
{
	for (size_t i = 0; i < k->knobs; i++)
		if (knob_is_shields(&k->knob[i]))
			return k->knob[i].id;
	return "";
}

static void compare_knob(struct knobs *k, size_t knob, size_t none, size_t whole)
{
	const char *id = k->knob[knob].id;
	size_t base = none;

	if (k->knob[knob].in_shields)
		base = arm_with(k, "alone", shields_id(k), knobs_alone(k, knob, false));
	add_comparison(k, KNOBS_ALONE, knob, base, arm_with(k, "alone", id, knobs_alone(k, knob, true)));
	add_comparison(k, KNOBS_WITHOUT, knob, whole, arm_with(k, "without", id, all_without(k, knob)));
}

void arms_make(struct knobs *k)
{
	const size_t none = knobs_add_arm(k, KNOBS_NONE, NULL),
		     whole = knobs_add_arm(k, KNOBS_WHOLE, all_without(k, k->knobs));

	add_comparison(k, KNOBS_OF_WHOLE, 0, none, whole);
	for (size_t i = 0; i < k->knobs; i++)
		if (k->knob[i].tested)
			compare_knob(k, i, none, whole);
}

int arms_write_profile(const struct study *s, const struct knobs_arm *arm, struct err *e)
{
	const struct knobs *k = knobs_of(s);
	char *folder = fs_path("%s/profiles/%s", s->path, arm->name),
	     *title = fs_path("%s of %s", arm->name, k->profile);
	int rc = arm->has_profile ? profile_write(folder, title, NULL, k, arm->has, e) : 0;

	free(title);
	free(folder);
	return rc;
}

int arms_write_profiles(const struct study *s, struct err *e)
{
	const struct knobs *k = knobs_of(s);
	int rc = 0;

	for (size_t i = 0; i < k->arms && !rc; i++)
		rc = arms_write_profile(s, &k->arm[i], e);
	return rc;
}

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

/* --- what is asked for --- */

static int check_asked(const struct study_request *r, struct err *e)
{
	const struct knobs_options *o = r->own;

	if (!r->path)
		return err_set(e, -EINVAL, STATUS_USAGE, NULL, NULL,
			       "knobs: no SPEC given; 'kblat list experiments' lists experiments");
	if (!o->profile)
		return err_set(e, -EINVAL, STATUS_USAGE, NULL, NULL,
			       "knobs: no --profile given; 'kbtune profiles' lists profiles");
	for (size_t i = 0; i < r->overrides.set_count; i++)
		if (!strncmp(r->overrides.set[i], "environment=", 12))
			return err_set(e, -EINVAL, STATUS_USAGE, NULL, NULL,
				       "knobs: --set %s: omit it; the knobs of --profile are what is varied",
				       r->overrides.set[i]);
	return 0;
}

const char *knobs_boot_id(char *buf, size_t size)
{
	char *text = NULL;

	*buf = '\0';
	if (!fs_read_followed(BOOT_ID, size - 1, &text, NULL, NULL))
		text_clean(text, strcspn(text, "\n"), buf, size);
	free(text);
	return buf;
}

/* --- the spec --- */

/* Load a spec with the environment for all of its points, and forecast the duration of a run. */
static int load_with(const struct study_request *r, const char *environment, struct spec *spec, double *expected_s)
{
	struct spec_overrides own = r->overrides;
	struct words set = {NULL, 0};
	struct diag diag;
	int rc;

	for (size_t i = 0; i < own.set_count; i++)
		words_add(&set, fs_path("%s", own.set[i]));
	words_add(&set, fs_path("environment=%s", environment));
	own.set = (const char *const *)set.word;
	own.set_count = set.count;
	rc = spec_load(r->path, &own, spec, &diag);
	if (rc) {
		diag_print(&diag, stderr);
	} else {
		const struct forecast sum = forecast_run(spec, NULL, NULL);

		*expected_s = forecast_seconds(&sum);
	}
	diag_free(&diag);
	words_free(&set);
	return rc;
}

static int take_knobs_spec(struct study *s, const struct study_request *r, struct err *e)
{
	struct knobs *k = knobs_plan_of(s);
	struct spec spec = {.path = NULL}, tuned = {.path = NULL};
	int rc = load_with(r, KNOBS_NONE, &spec, &k->expected_none_s)
		     ?: load_with(r, KNOBS_WHOLE, &tuned, &k->expected_whole_s);

	if (rc) {
		err_set(e, rc, STATUS_USAGE, r->path, NULL, "the spec has errors");
	} else {
		char *real = realpath(spec.path, NULL);

		s->name = fs_path("%s", spec.name);
		s->spec = real ? real : fs_path("%s", spec.path);
		s->parent = run_parent(&spec, r->out);
		k->points = spec_points_json(&spec);
	}
	spec_free(&tuned);
	spec_free(&spec);
	return rc;
}

/* --- time --- */

/* The duration of a block, including the two runs of a candidate for the smallest profile. */
static double plan_block_s(const struct study *s)
{
	const struct knobs *k = knobs_of(s);
	struct knobs_arms_of arms = blocks_arms(k), pair = blocks_pair(k, knobs_find_arm(k, KNOBS_WHOLE));
	const double sum = blocks_expected_s(s, &arms) + blocks_expected_s(s, &pair);

	free(pair.arm);
	free(arms.arm);
	return sum;
}

static int plan_check_budget(struct study *s, const struct study_request *r, struct err *e)
{
	struct knobs *k = knobs_plan_of(s);
	char needed[FORECAST_TEXT_MAX], all[FORECAST_TEXT_MAX], given[FORECAST_TEXT_MAX];
	const double one_s = plan_block_s(s);
	const long asked = ((const struct knobs_options *)r->own)->blocks;
	double count = asked ? (double)asked : KNOBS_BLOCKS;

	if (r->budget_s > 0 && one_s > r->budget_s)
		return err_set(e, -EINVAL, STATUS_USAGE, "--budget", NULL,
			       "%s is too short: one block, a run of each of %zu arms, needs about %s, and a verdict "
			       "needs %d blocks: %s; allow more time, or shorten the runs with --quick or --only",
			       forecast_text(r->budget_s, given, sizeof(given)), k->arms,
			       forecast_text(one_s, needed, sizeof(needed)), COMPARE_PAIRS,
			       forecast_text(COMPARE_PAIRS * one_s, all, sizeof(all)));
	if (r->budget_s > 0 && !asked)
		count = fmin(fmax(floor(r->budget_s / one_s), COMPARE_PAIRS), KNOBS_BLOCKS_MAX);
	k->blocks = (size_t)count;
	return 0;
}

/* --- the whole plan --- */

static int check_quantities(const struct knobs *k, struct err *e)
{
	struct knobs_choice c;
	int rc = choice_read(k, &c, e);

	choice_free(&c);
	return rc;
}

enum status knobs_plan_make(struct study *s, const struct study_request *r, struct err *e)
{
	const struct knobs_options *o = r->own;
	struct knobs *k = or_abort(calloc(1, sizeof(*k)));
	char boot[64];

	s->plan = k;
	if (check_asked(r, e) || take_knobs_spec(s, r, e))
		return err_status(e);
	k->profile = fs_path("%s", o->profile);
	k->boot = fs_path("%s", knobs_boot_id(boot, sizeof(boot)));
	k->metric = o->metric ? fs_path("%s", o->metric) : NULL;
	k->seed = (uint64_t)o->seed;
	words_copy(&k->quantities, o->quantities.items, o->quantities.count);
	words_copy(&k->margins, o->margins.items, o->margins.count);
	if (profile_knobs(o->profile, k, e))
		return err_status(e);
	arms_make(k);
	return check_quantities(k, e) || plan_check_budget(s, r, e) ? err_status(e) : STATUS_OK;
}

/* --- a dry run --- */

static void plan_print_knob(const struct knob *knob)
{
	char name[TEXT_QUOTE_MAX], why[512];
	const char *text = !knob->tested ? knob->why : knob->in_shields ? "alone: with the shields" : "";

	printf("  %-28s %s%s%s%s\n", text_quote(knob->name, name, sizeof(name)), knob->tested ? "tested" : "not tested",
	       *text ? ": " : "", text_clean(text, strlen(text), why, sizeof(why)), "");
	if (knob->tested && *knob->cost)
		printf("  %-28s costs: %s\n", "", text_clean(knob->cost, strlen(knob->cost), why, sizeof(why)));
}

static void print_study_json(const struct study *s)
{
	json_t *j = study_to_json(s);

	json_print(j, stdout);
	json_decref(j);
}

void knobs_plan_show(const struct study *s, const struct study_request *r)
{
	const struct knobs *k = knobs_of(s);
	char one[FORECAST_TEXT_MAX], all[FORECAST_TEXT_MAX];
	struct knobs_arms_of arms = blocks_arms(k);
	const double left = (double)k->blocks - (double)blocks_done(s, KNOBS_STAGE);

	if (r->json) {
		print_study_json(s);
		free(arms.arm);
		return;
	}
	printf("knobs of %s:\n", text_named(k->profile));
	for (size_t i = 0; i < k->knobs; i++)
		plan_print_knob(&k->knob[i]);
	printf("%zu arms a block, about %s; %g of %zu blocks to measure, about %s with the smallest profile's\n",
	       arms.count, forecast_text(blocks_expected_s(s, &arms), one, sizeof(one)), left, k->blocks,
	       forecast_text(left * plan_block_s(s), all, sizeof(all)));
	free(arms.arm);
}
