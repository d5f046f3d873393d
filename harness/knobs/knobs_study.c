#include "knobs/knobs_study.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "campaign/campaign_child.h"
#include "campaign/campaign_directory.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/monotonic.h"
#include "compare/compare_judge.h"
#include "knobs/knobs_arms.h"
#include "knobs/knobs_block.h"
#include "knobs/knobs_choice.h"
#include "knobs/knobs_judge.h"
#include "knobs/knobs_page.h"
#include "knobs/knobs_plan.h"
#include "knobs/knobs_record.h"
#include "knobs/knobs_smallest.h"
#include "knobs/knobs_table.h"
#include "run/channel.h"
#include "rundir/writer.h"

/* --- a new study --- */

static int make_study_directory(struct knobs *k, const struct knobs_plan *plan, struct err *e)
{
	char *name = fs_path("%s-knobs", json_text(k->j, "name"));
	int rc = directory_make(plan->runs, name, &k->path, &k->lock, e);

	free(name);
	return rc ?: arms_write_profiles(k, e) ?: knobs_save(k, e);
}

/* --- resuming a study --- */

static int check_study_resumable(const struct knobs_options *o, const json_t *j, const char *file, struct err *e)
{
	static const char *const lists[] = {"knobs", "arms", "comparisons", "runs"};
	char boot[64];
	size_t missing = 0;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		missing += !json_is_array(json_object_get(j, lists[i]));
	if (json_integer_value(json_object_get(j, "schema")) != 1 || missing)
		return err_set(e, -EINVAL, STATUS_USAGE, file, NULL,
			       "it is not a study in a format that this kblat can read");
	if (o->spec || o->profile || knobs_has_options(o))
		return err_set(e, -EINVAL, STATUS_USAGE, file, NULL,
			       "--resume uses the original SPEC and options; omit all others");
	if (strcmp(knobs_boot_id(boot, sizeof(boot)), json_text(j, "boot")) != 0)
		return err_set(e, -EINVAL, STATUS_USAGE, file, NULL,
			       "it was started in an earlier boot: differences between boots would look like an "
			       "effect; start a new study");
	return 0;
}

static int resume_study(struct knobs *k, const struct knobs_options *o, struct err *e)
{
	char *file;
	int rc;

	k->path = realpath(o->resume, NULL);
	if (!k->path)
		return err_sys(e, -errno, o->resume, "continue it");
	file = fs_path("%s/knobs.json", k->path);
	rc = directory_resume(k->path, "knobs.json", &k->lock, &k->j, e) ?: check_study_resumable(o, k->j, file, e);
	free(file);
	return rc;
}

/* --- measuring --- */

static size_t asked_blocks(const struct knobs *k)
{
	return (size_t)json_integer_value(json_object_get(knobs_options(k), "blocks"));
}

static int judge_blocks(struct knobs *k, const struct knobs_choice *c, struct err *e)
{
	json_t *result = knobs_blocks_done(k, KNOBS_STAGE_BLOCKS) ? knobs_judge(k, c, e) : json_null();

	if (!result)
		return -EINVAL;
	json_object_set_new(k->j, "result", result);
	return knobs_save(k, e);
}

/* A block is a run of each arm; in addition, each candidate for the smallest profile takes two runs
 * per block. */
static int measure_study(struct knobs *k, const struct knobs_choice *c, struct err *e)
{
	json_t *arms = knobs_block_arms(k), *pair = json_pack("[s, s]", KNOBS_WHOLE, KNOBS_WHOLE);
	int rc = blocks_measure(k, KNOBS_STAGE_BLOCKS, arms, asked_blocks(k), block_expected_s(k, pair), e);

	json_decref(pair);
	json_decref(arms);
	rc = rc ?: judge_blocks(k, c, e);
	if (!rc && !child_is_interrupted() && knobs_blocks_done(k, KNOBS_STAGE_BLOCKS) >= COMPARE_PAIRS)
		rc = smallest_find(k, c, e) ?: smallest_write(k, e);
	return rc;
}

static const char *study_status_word(const struct knobs *k, int rc)
{
	if (child_is_interrupted())
		return "INTERRUPTED";
	if (rc)
		return "FAILED";
	return knobs_blocks_done(k, KNOBS_STAGE_BLOCKS) < asked_blocks(k) ? "PARTIAL" : "COMPLETED";
}

static void say_blocks_left(const struct knobs *k)
{
	size_t done = knobs_blocks_done(k, KNOBS_STAGE_BLOCKS), asked = asked_blocks(k);

	if (child_is_interrupted())
		fprintf(stderr, "kblat: interrupted; `kblat knobs --resume %s` continues it\n", k->path);
	else if (done < asked)
		fprintf(stderr,
			"kblat: %zu of %zu blocks fitted into the budget; `kblat knobs --resume %s` continues\n", done,
			asked, k->path);
}

static enum status show_study(const struct knobs *k)
{
	if (k->json)
		json_print(k->j, stdout);
	else
		knobs_table(k->j, stdout);
	say_blocks_left(k);
	return child_is_interrupted() ? STATUS_FAILED : smallest_status(json_object_get(k->j, "smallest"));
}

/* If the page cannot be made, the result is still valid. */
static void write_study_page(const struct knobs *k)
{
	struct err own = ERR_INIT;

	if (knobs_page_make(k, &own))
		fprintf(stderr, "kblat: %s\n", own.text);
}

static enum status work_on_study(struct knobs *k, struct err *e)
{
	enum status status = STATUS_FAILED;
	struct knobs_choice c;
	char utc[32];
	int rc = choice_read(knobs_options(k), &c, e);

	child_catch_signals();
	json_object_set_new(k->j, "status", json_string("RUNNING"));
	rc = rc ?: measure_study(k, &c, e);
	json_object_set_new(k->j, "status", json_string(study_status_word(k, rc)));
	json_object_set_new(k->j, "ended_utc", json_string(utc_now(utc, sizeof(utc), 0)));
	if (knobs_save(k, e))
		rc = -EIO;
	if (!rc) {
		status = show_study(k);
		write_study_page(k);
	}
	printf("%s\n", k->path);
	choice_free(&c);
	return rc ? err_status(e) : status;
}

static enum status start_study(struct knobs *k, const struct knobs_options *o, struct err *e)
{
	struct knobs_plan plan;
	enum status status = STATUS_OK;
	int rc = knobs_plan_make(&plan, k, o, e);

	if (!rc && o->dry_run)
		knobs_plan_show(k, o);
	else if (!rc)
		status = make_study_directory(k, &plan, e) ? err_status(e) : work_on_study(k, e);
	knobs_plan_free(&plan);
	return rc ? err_status(e) : status;
}

enum status knobs_run(const struct knobs_options *o, struct err *e)
{
	struct knobs k = {
	    .lock = -1, .json = o->json, .quiet = o->quiet, .budget_s = o->budget_s, .began_ms = monotonic_ms()};
	enum status status;

	if (!o->resume)
		status = start_study(&k, o, e);
	else if (resume_study(&k, o, e))
		status = err_status(e);
	else if (o->dry_run)
		status = (knobs_plan_show(&k, o), STATUS_OK);
	else
		status = work_on_study(&k, e);
	if (k.lock >= 0)
		close(k.lock);
	json_decref(k.j);
	free(k.path);
	return status;
}
