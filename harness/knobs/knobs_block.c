#include "knobs/knobs_block.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "campaign/campaign_child.h"
#include "campaign/campaign_record.h"
#include "campaign/child_words.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/monotonic.h"
#include "common/or_abort.h"
#include "common/random.h"
#include "knobs/knobs_arms.h"
#include "run/channel.h"

/* --- time --- */

/* The duration of a run of an arm: the mean of previous ones, or the forecast. */
static double run_expected_s(const struct knobs *k, const char *arm)
{
	double sum = 0;
	const json_t *run;
	size_t i, n = 0;

	json_array_foreach (json_object_get(k->j, "runs"), i, run)
		if (!strcmp(json_text(run, "arm"), arm) && !strcmp(json_text(run, "state"), "completed")) {
			sum += json_number_or_nan(run, "took_s");
			n++;
		}
	return n ? sum / (double)n
		 : json_number_or_nan(json_object_get(k->j, "expected_s"),
				      strcmp(arm, KNOBS_NONE) ? KNOBS_WHOLE : KNOBS_NONE);
}

double block_expected_s(const struct knobs *k, const json_t *arms)
{
	const json_t *arm;
	double sum = 0;
	size_t i;

	json_array_foreach (arms, i, arm)
		sum += run_expected_s(k, json_string_value(arm));
	return sum;
}

static bool is_time(const struct knobs *k, double needs_s)
{
	double passed_s = (double)(monotonic_ms() - k->began_ms) / 1000;

	return k->budget_s <= 0 || passed_s + needs_s <= k->budget_s;
}

/* --- a block's runs --- */

static void add_run(struct knobs *k, const char *stage, size_t block, const json_t *arm)
{
	json_array_append_new(json_object_get(k->j, "runs"),
			      json_pack("{s:s, s:I, s:O, s:s, s:n, s:[], s:n, s:s, s:n}", "stage", stage, "block",
					(json_int_t)block, "arm", arm, "state", "pending", "run", "earlier",
					"exit_status", "why", "", "took_s"));
}

/* Every arm once, in random order. */
static void plan_block(struct knobs *k, const char *stage, const json_t *arms, size_t block)
{
	uint64_t state = knobs_seed(k) + 1000003 * (uint64_t)json_array_size(json_object_get(k->j, "runs"));
	size_t n = json_array_size(arms), *order = or_abort(calloc(n + 1, sizeof(*order)));

	for (size_t i = 0; i < n; i++)
		order[i] = i;
	random_shuffle(order, n, &state);
	for (size_t i = 0; i < n; i++)
		add_run(k, stage, block, json_array_get(arms, order[i]));
	free(order);
}

static bool is_planned(const struct knobs *k, const char *stage, size_t block)
{
	const json_t *run;
	size_t i;

	json_array_foreach (json_object_get(k->j, "runs"), i, run)
		if (knobs_is_of(run, stage, (json_int_t)block))
			return true;
	return false;
}

/* --- one run --- */

static json_t *run_words(const struct knobs *k, const json_t *arm)
{
	const json_t *options = knobs_options(k);
	char *out = fs_path("%s/runs/%s", k->path, json_text(arm, "name")), *profiles = fs_path("%s/profiles", k->path),
	     *environment = fs_path("environment=%s", json_text(arm, "environment"));
	json_t *words = json_pack("[s, s, s, s, s, s, s, s]", "kblat", "run", json_text(k->j, "spec"), "--quiet",
				  "--out", out, "--profile-path", profiles);

	child_words_add_flags(words, options);
	child_words_add_each(words, "--set", json_object_get(options, "set"));
	child_words_add(words, "--set", environment);
	child_words_add_each(words, "--only", json_object_get(options, "only"));
	child_words_add(words, "--source", json_text(options, "source"));
	child_words_add(words, "--sink", json_text(options, "sink"));
	free(environment);
	free(profiles);
	free(out);
	return words;
}

/* A run that measured counts, valid or not; points that are not valid are left out when the runs are judged. */
static int conclude_run(const struct knobs *k, json_t *run, int status, struct err *e)
{
	const char *arm = json_text(run, "arm");

	json_object_set_new(run, "exit_status", json_integer(status));
	if ((status == STATUS_OK || status == STATUS_NO) && json_is_string(json_object_get(run, "run"))) {
		record_set_state(run, "completed", "");
		return 0;
	}
	if (child_is_interrupted()) {
		record_set_state(run, "interrupted", "by a signal");
		return 0;
	}
	record_set_state(run, status == STATUS_IMPOSSIBLE ? "impossible" : "failed", "see above");
	return err_set(e, -ECHILD, status == STATUS_IMPOSSIBLE ? STATUS_IMPOSSIBLE : STATUS_FAILED, arm, "measure it",
		       "%s, see above; 'kblat knobs --resume %s' tries it again",
		       status == STATUS_IMPOSSIBLE ? "not possible on this machine" : "its run failed", k->path);
}

static int measure_run(struct knobs *k, json_t *run, struct err *e)
{
	json_t *words = run_words(k, knobs_arm(k, json_text(run, "arm")));
	char **argv = child_words_argv(words), *line = NULL;
	const int64_t began_ms = monotonic_ms();
	int status, rc;

	record_put_away(run);
	record_set_state(run, "running", "");
	rc = knobs_save(k, e);
	status = rc ? rc : campaign_child_run(argv, NULL, &line, e);
	if (status >= 0) {
		child_words_note_run(run, k->path, line);
		json_object_set_new(run, "took_s", json_real((double)(monotonic_ms() - began_ms) / 1000));
		rc = conclude_run(k, run, status, e);
		if (knobs_save(k, e))
			rc = -EIO;
	} else {
		rc = status;
	}
	free(line);
	free(argv);
	json_decref(words);
	return rc;
}

static int measure_block(struct knobs *k, const char *stage, size_t block, size_t blocks, struct err *e)
{
	json_t *run;
	size_t i, at = 0;
	int rc = 0;

	json_array_foreach (json_object_get(k->j, "runs"), i, run) {
		if (!knobs_is_of(run, stage, (json_int_t)block))
			continue;
		at++;
		if (rc || child_is_interrupted() || !strcmp(json_text(run, "state"), "completed"))
			continue;
		if (!k->quiet)
			fprintf(stderr, "kblat: %s: block %zu of %zu, run %zu: %s\n", stage, block + 1, blocks, at,
				json_text(run, "arm"));
		rc = measure_run(k, run, e);
	}
	return rc;
}

int blocks_measure(struct knobs *k, const char *stage, const json_t *arms, size_t blocks, double reserve_s,
		   struct err *e)
{
	int rc = 0;

	for (size_t b = knobs_blocks_done(k, stage); !rc && b < blocks && !child_is_interrupted(); b++) {
		if (!is_time(k, block_expected_s(k, arms) + reserve_s * (double)(b + 1)))
			break;
		if (!is_planned(k, stage, b))
			plan_block(k, stage, arms, b);
		rc = measure_block(k, stage, b, blocks, e);
	}
	return rc;
}
