#include "knobs/knobs_plan.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "common/version.h"
#include "compare/compare_judge.h"
#include "knobs/knobs_arms.h"
#include "knobs/knobs_block.h"
#include "knobs/knobs_choice.h"
#include "knobs/knobs_profile.h"
#include "run/describe.h"
#include "run/forecast_run.h"
#include "run/run.h"
#include "rundir/writer.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

/* --- options --- */

static json_t *plan_options_json(const struct knobs_options *o)
{
	const struct spec_overrides *v = &o->overrides;

	return json_pack("{s:b, s:b, s:o, s:o, s:s?, s:s?, s:s?, s:s?, s:o, s:o, s:I, s:I}", "quick", v->quick, "mask",
			 o->mask, "set", json_texts(v->set, v->set_count), "only", json_texts(v->only, v->only_count),
			 "source", o->source, "sink", o->sink, "profile_path", o->profile_path, "metric", o->metric,
			 "quantities", json_texts(o->quantities.items, o->quantities.count), "margins",
			 json_texts(o->margins.items, o->margins.count), "blocks", (json_int_t)o->blocks, "seed",
			 (json_int_t)o->seed);
}

bool knobs_has_options(const struct knobs_options *o)
{
	const struct spec_overrides *v = &o->overrides;

	return v->quick || v->set_count || v->only_count || o->source || o->sink || o->profile_path || o->mask ||
	       o->out || o->metric || o->quantities.count || o->margins.count || o->blocks;
}

static int check_asked(const struct knobs_options *o, struct err *e)
{
	if (!o->spec)
		return err_set(e, -EINVAL, STATUS_USAGE, NULL, NULL,
			       "knobs: no SPEC given; 'kblat list experiments' lists experiments");
	if (!o->profile)
		return err_set(e, -EINVAL, STATUS_USAGE, NULL, NULL,
			       "knobs: no --profile given; 'kbtune profiles' lists profiles");
	for (size_t i = 0; i < o->overrides.set_count; i++)
		if (!strncmp(o->overrides.set[i], "environment=", 12))
			return err_set(e, -EINVAL, STATUS_USAGE, NULL, NULL,
				       "knobs: --set %s: omit it; the knobs of --profile are what is varied",
				       o->overrides.set[i]);
	return 0;
}

/* --- the spec --- */

/* Load a spec with the environment for all of its points, and forecast the duration of a run. */
static int plan_load_spec(const struct knobs_options *o, const char *environment, struct spec *spec, double *expected_s)
{
	const struct spec_overrides *v = &o->overrides;
	const char **set = or_abort(calloc(v->set_count + 1, sizeof(*set)));
	char *last = fs_path("environment=%s", environment);
	struct spec_overrides own = *v;
	struct diag diag;
	int rc;

	for (size_t i = 0; i < v->set_count; i++)
		set[i] = v->set[i];
	set[v->set_count] = last;
	own.set = set;
	own.set_count = v->set_count + 1;
	rc = spec_load(o->spec, &own, spec, &diag);
	if (rc) {
		diag_print(&diag, stderr);
	} else {
		const struct forecast sum = forecast_run(spec->point, spec->point_count, NULL, spec->name, NULL);

		*expected_s = forecast_seconds(&sum);
	}
	diag_free(&diag);
	free(last);
	free(set);
	return rc;
}

/* --- the record --- */

const char *knobs_boot_id(char *buf, size_t size)
{
	char *text = NULL;

	*buf = '\0';
	if (!fs_read_followed(BOOT_ID, size - 1, &text, NULL, NULL))
		text_clean(text, strcspn(text, "\n"), buf, size);
	free(text);
	return buf;
}

static json_t *plan_describe(const struct knobs_options *o, const struct spec *spec, json_t *knobs)
{
	char utc[32], boot[64], *path = realpath(spec->path, NULL);
	json_t *j;

	j = json_pack("{s:i, s:s, s:s, s:s, s:s, s:o, s:s, s:s, s:s, s:n, s:s, s:o, s:o, s:{}, s:o, s:[], s:[], s:[], "
		      "s:n, s:n}",
		      "schema", 1, "status", "RUNNING", "spec", path ? path : spec->path, "name", spec->name, "profile",
		      o->profile, "argv", describe_command(o->argc, o->argv), "version", kblat_version, "commit",
		      kblat_commit, "started_utc", utc_now(utc, sizeof(utc), 0), "ended_utc", "boot",
		      knobs_boot_id(boot, sizeof(boot)), "points", spec_points_json(spec), "options",
		      plan_options_json(o), "expected_s", "knobs", knobs, "arms", "comparisons", "runs", "result",
		      "smallest");
	free(path);
	return j;
}

json_t *knobs_block_arms(const struct knobs *k)
{
	json_t *names = json_array();
	const json_t *arm;
	size_t i;

	json_array_foreach (json_object_get(k->j, "arms"), i, arm)
		if (strncmp(json_text(arm, "name"), KNOBS_CANDIDATE, strlen(KNOBS_CANDIDATE)) != 0)
			json_array_append(names, json_object_get(arm, "name"));
	return names;
}

/* --- time --- */

/* The duration of a block, including the two runs of a candidate for the smallest profile. */
static double plan_block_s(const struct knobs *k)
{
	json_t *arms = knobs_block_arms(k), *pair = json_pack("[s, s]", KNOBS_WHOLE, KNOBS_WHOLE);
	double sum = block_expected_s(k, arms) + block_expected_s(k, pair);

	json_decref(pair);
	json_decref(arms);
	return sum;
}

static int plan_check_budget(struct knobs *k, const struct knobs_options *o, struct err *e)
{
	char needed[FORECAST_TEXT_MAX], all[FORECAST_TEXT_MAX], given[FORECAST_TEXT_MAX];
	const double one_s = plan_block_s(k);
	double count = o->blocks ? (double)o->blocks : KNOBS_BLOCKS;

	if (o->budget_s > 0 && one_s > o->budget_s)
		return err_set(e, -EINVAL, STATUS_USAGE, "--budget", NULL,
			       "%s is too short: one block, a run of each of %zu arms, needs about %s, and a verdict "
			       "needs %d blocks: %s; allow more time, or shorten the runs with --quick or --only",
			       forecast_text(o->budget_s, given, sizeof(given)),
			       json_array_size(json_object_get(k->j, "arms")),
			       forecast_text(one_s, needed, sizeof(needed)), COMPARE_PAIRS,
			       forecast_text(COMPARE_PAIRS * one_s, all, sizeof(all)));
	if (o->budget_s > 0 && !o->blocks)
		count = fmin(fmax(floor(o->budget_s / one_s), COMPARE_PAIRS), KNOBS_BLOCKS_MAX);
	json_object_set_new(json_object_get(k->j, "options"), "blocks", json_integer((json_int_t)count));
	return 0;
}

/* --- the whole plan --- */

static int plan_check_choice(const struct knobs *k, struct err *e)
{
	struct knobs_choice c;
	int rc = choice_read(knobs_options(k), &c, e);

	choice_free(&c);
	return rc;
}

static void set_expected(struct knobs *k, double none_s, double whole_s)
{
	json_t *expected = json_object_get(k->j, "expected_s");

	json_object_set_new(expected, KNOBS_NONE, json_real(none_s));
	json_object_set_new(expected, KNOBS_WHOLE, json_real(whole_s));
}

int knobs_plan_make(struct knobs_plan *plan, struct knobs *k, const struct knobs_options *o, struct err *e)
{
	double none_s = 0, whole_s = 0;
	struct spec spec = {.path = NULL}, tuned = {.path = NULL};
	json_t *knobs = NULL;
	int rc = check_asked(o, e);

	*plan = (struct knobs_plan){NULL};
	if (rc)
		return rc;
	rc = plan_load_spec(o, KNOBS_NONE, &spec, &none_s) ?: plan_load_spec(o, KNOBS_WHOLE, &tuned, &whole_s);
	if (rc)
		err_set(e, rc, STATUS_USAGE, o->spec, NULL, "the spec has errors");
	if (!rc && !(knobs = profile_knobs(o->profile, e)))
		rc = -EINVAL;
	if (!rc) {
		plan->runs = run_parent(&spec, o->out);
		k->j = plan_describe(o, &spec, knobs);
		arms_make(k);
		set_expected(k, none_s, whole_s);
		rc = plan_check_choice(k, e) ?: plan_check_budget(k, o, e);
	}
	spec_free(&tuned);
	spec_free(&spec);
	return rc;
}

void knobs_plan_free(struct knobs_plan *plan)
{
	free(plan->runs);
}

/* --- a dry run --- */

static void plan_print_knob(const json_t *knob)
{
	char name[TEXT_QUOTE_MAX], why[512];
	const char *text = json_text(knob, "why"), *cost = json_text(knob, "cost");
	bool tested = json_is_true(json_object_get(knob, "tested"));

	if (tested)
		text = json_is_true(json_object_get(knob, "shields")) ? "alone: with the shields" : "";
	printf("  %-28s %s%s%s%s\n", text_quote(json_text(knob, "name"), name, sizeof(name)),
	       tested ? "tested" : "not tested", *text ? ": " : "", text_clean(text, strlen(text), why, sizeof(why)),
	       "");
	if (tested && *cost)
		printf("  %-28s costs: %s\n", "", text_clean(cost, strlen(cost), why, sizeof(why)));
}

void knobs_plan_show(const struct knobs *k, const struct knobs_options *o)
{
	char one[FORECAST_TEXT_MAX], all[FORECAST_TEXT_MAX];
	json_t *arms = knobs_block_arms(k);
	double asked = json_number_value(json_object_get(knobs_options(k), "blocks"));
	double left = asked - (double)knobs_blocks_done(k, KNOBS_STAGE_BLOCKS);
	const json_t *knob;
	size_t i;

	if (o->json) {
		json_print(k->j, stdout);
		json_decref(arms);
		return;
	}
	printf("knobs of %s:\n", json_text(k->j, "profile"));
	json_array_foreach (json_object_get(k->j, "knobs"), i, knob)
		plan_print_knob(knob);
	printf("%zu arms a block, about %s; %g of %g blocks to measure, about %s with the smallest profile's\n",
	       json_array_size(arms), forecast_text(block_expected_s(k, arms), one, sizeof(one)), left, asked,
	       forecast_text(left * plan_block_s(k), all, sizeof(all)));
	json_decref(arms);
}
