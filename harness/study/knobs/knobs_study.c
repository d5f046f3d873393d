/*
 * The knobs of a profile: a kind of study that finds out which of them help. Each is switched on alone and off alone,
 * and compared with no profile and the whole one, in randomised blocks of runs; see docs/knobs.md. Its directory also has
 *
 *     profiles/<arm>/      the profile of each arm
 *     runs/<arm>/          the run directories of each arm
 *     smallest/            the smallest profile that has the effect: kbtune apply DIR/smallest
 *     derived/             the page
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/json.h"
#include "judge/compare/compare_verdict.h"
#include "report/verdict_format.h"
#include "study/kinds.h"
#include "study/knobs/knobs_blocks.h"
#include "study/knobs/knobs_json.h"
#include "study/knobs/knobs_judge.h"
#include "study/knobs/knobs_page.h"
#include "study/knobs/knobs_plan.h"
#include "study/knobs/knobs_smallest.h"
#include "study/runner.h"
#include "study/study.h"
#include "study/study_record.h"

#define PROFILE_MOST (1 << 20) /* bytes */

/* --- before the first run --- */

/* Every cell measures an arm of the plan, with the profile that this arm has. */
static int check_cells(const struct study *s, struct err *e)
{
	const struct knobs *k = knobs_of(s);

	for (size_t i = 0; i < s->count; i++) {
		const struct cell *c = &s->cell[i];
		const size_t arm = knobs_find_arm(k, c->name ? c->name : "");
		const char *environment = arm < k->arms && k->arm[arm].has_profile ? k->arm[arm].name : KNOBS_NONE;

		if (arm == k->arms || c->spec || c->set.count || !c->environment ||
		    strcmp(c->environment, environment) != 0)
			return err_set(e, -EINVAL, STATUS_USAGE, s->path, NULL,
				       "cell %zu does not measure one of the study's arms", i);
	}
	return 0;
}

static int show_whole_profile(const struct study *s, const char *name, struct err *e)
{
	char *file = fs_path("%s/profiles/" KNOBS_WHOLE "/%s", s->path, name), *text = NULL;
	size_t size;
	int rc = fs_read(file, PROFILE_MOST, &text, &size, e);

	if (!rc)
		runner_show_profile(file, text);
	free(text);
	free(file);
	return rc;
}

/* Profiles are written anew from the record, so that what is shown is what kbtune applies: every arm has a part of the
 * whole profile, and its tuned.conf if it has one. */
static int prepare_profiles(struct study *s, struct err *e)
{
	char *conf = fs_path("%s/profiles/" KNOBS_WHOLE "/tuned.conf", s->path);
	int rc = check_cells(s, e);

	if (!rc && s->request->resume)
		unlink(conf);
	rc = rc ?: arms_write_profiles(s, e);
	if (!rc && s->request->resume)
		rc = show_whole_profile(s, "profile.yaml", e)
			 ?: fs_is_missing(conf) ? 0
						: show_whole_profile(s, "tuned.conf", e);
	free(conf);
	return rc;
}

static bool has_own_options(const struct knobs_options *o)
{
	return o->profile || o->metric || o->quantities.count || o->margins.count || o->blocks;
}

static enum status check_resumable(struct study *s, const struct study_request *r, struct err *e)
{
	char boot[64];

	if (!r->resume)
		return STATUS_OK;
	if (has_own_options(r->own))
		return err_set(e, -EINVAL, STATUS_USAGE, s->path, NULL,
			       "--resume uses the study's original options; omit all others"),
		       err_status(e);
	if (strcmp(knobs_boot_id(boot, sizeof(boot)), knobs_of(s)->boot) != 0)
		return err_set(e, -EINVAL, STATUS_USAGE, s->path, NULL,
			       "it was started in an earlier boot: differences between boots would look like an "
			       "effect; start a new study"),
		       err_status(e);
	return STATUS_OK;
}

/* --- measuring --- */

/* A block is a run of each arm; in addition, each candidate for the smallest profile takes two runs per block. */
static int measure_blocks(struct study *s, struct err *e)
{
	const struct knobs *k = knobs_of(s);
	struct knobs_arms_of arms = blocks_arms(k), pair = blocks_pair(k, knobs_find_arm(k, KNOBS_WHOLE));
	const int rc = blocks_measure(s, KNOBS_STAGE, &arms, k->blocks, blocks_expected_s(s, &pair), e);

	free(pair.arm);
	free(arms.arm);
	return rc;
}

static int measure_with(struct study *s, const struct knobs_choice *c, struct err *e)
{
	int rc = measure_blocks(s, e) ?: knobs_judge(s, c, e);

	if (!rc && !runner_is_interrupted() && blocks_done(s, KNOBS_STAGE) >= COMPARE_PAIRS)
		rc = smallest_find(s, c, e) ?: smallest_write(s, e);
	return rc;
}

static int measure_knobs(struct study *s, struct err *e)
{
	struct knobs_choice c;
	const int rc = choice_read(knobs_of(s), &c, e) ?: measure_with(s, &c, e);

	choice_free(&c);
	return rc;
}

/* --- the end --- */

static void say_blocks_left(struct study *s)
{
	const size_t done = blocks_done(s, KNOBS_STAGE), asked = knobs_of(s)->blocks;

	if (done >= asked)
		return;
	s->status = STUDY_PARTIAL;
	if (!runner_is_interrupted())
		fprintf(stderr,
			"kblat: %zu of %zu blocks fitted into the budget; `kblat knobs --resume %s` continues\n", done,
			asked, s->path);
}

/* If the page cannot be made, the result is still valid. */
static void draw_knobs_page(const struct study *s)
{
	struct err own = ERR_INIT;

	if (knobs_page_make(s, &own))
		fprintf(stderr, "kblat: %s\n", own.text);
}

static enum verdict_result result_of_knob(enum knob_verdict verdict)
{
	static const enum verdict_result results[KNOB_VERDICTS] = {
	    [KNOB_NEEDED] = VERDICT_PASS,	  [KNOB_HELPS] = VERDICT_PASS,	   [KNOB_WORSE] = VERDICT_FAIL,
	    [KNOB_MIXED] = VERDICT_FAIL,	  [KNOB_NO_EFFECT] = VERDICT_PASS, [KNOB_UNDECIDED] = VERDICT_UNDECIDED,
	    [KNOB_UNTESTED] = VERDICT_IMPOSSIBLE,
	};

	return results[verdict];
}

/* A knob that makes it slower fails. */
static void print_knobs_list(const struct study *s, enum status status)
{
	const struct knobs *k = knobs_of(s);
	struct verdict_list list = verdict_list_make(s->name, status, k->smallest.answer);

	verdict_text(&list.started, s->path);
	for (size_t i = 0; i < k->knobs; i++) {
		enum knob_verdict verdict = k->result ? k->result->knob[i] : KNOB_UNDECIDED;
		struct verdict *v = verdict_list_add(&list, k->profile, k->knob[i].id, result_of_knob(verdict));

		verdict_text(&v->why, *k->knob[i].why ? k->knob[i].why : knob_verdicts[verdict]);
		verdict_text(&v->numbers, k->knob[i].name);
		v->shown_only = true;
	}
	verdict_format_print(s->request->format, list);
}

static enum status judge_all_knobs(struct study *s, struct err *e)
{
	const enum status status = runner_is_interrupted() ? STATUS_FAILED : smallest_status(&knobs_of(s)->smallest);

	(void)e;
	study_set_answer(s, knobs_answer_to_json(knobs_of(s)));
	if (s->request->format) {
		print_knobs_list(s, status);
	} else if (s->request->json) {
		json_t *j = study_to_json(s);

		json_print(j, stdout);
		json_decref(j);
	} else {
		knobs_table(s, stdout);
	}
	say_blocks_left(s);
	draw_knobs_page(s);
	return status;
}

const struct study_kind knobs_kind = {
    .name = "knobs",
    .suffix = "-knobs",
    .command = "kblat knobs",
    .runs = "runs",
    .by_name = true,
    .quiet = true,
    .plan = knobs_plan_make,
    .judge = judge_all_knobs,
    .show = knobs_plan_show,
    .check = check_resumable,
    .measure = measure_knobs,
    .plan_to_json = knobs_plan_to_json,
    .plan_from_json = knobs_plan_from_json,
    .plan_free = knobs_free,
    .prepare = prepare_profiles,
};
