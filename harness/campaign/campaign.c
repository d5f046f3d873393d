#include "campaign/campaign.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "campaign/campaign_child.h"
#include "campaign/campaign_directory.h"
#include "campaign/campaign_end.h"
#include "campaign/campaign_plan.h"
#include "campaign/campaign_record.h"
#include "campaign/child_words.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/monotonic.h"
#include "common/version.h"
#include "run/channel.h"
#include "run/describe.h"
#include "rundir/writer.h"

static bool is_campaign(const char *path)
{
	char *file = fs_path("%s/campaign.json", path);
	bool there = !access(file, F_OK);

	free(file);
	return there;
}

bool campaign_is(const char *path)
{
	return is_campaign(path) || study_is(path);
}

/* --- a new campaign --- */

/* The part of --set that applies to an experiment. */
static json_t *own_settings(const struct study_experiment *x, const struct spec_overrides *o)
{
	json_t *j = json_array();

	for (size_t i = 0; i < o->set_count; i++)
		if (x->applies[i])
			json_array_append_new(j, json_string(o->set[i]));
	return j;
}

static json_t *describe_experiment(const struct study_experiment *x, const struct spec_overrides *o)
{
	bool empty = !json_array_size(x->points);
	json_t *j = json_pack("{s:s, s:s, s:o, s:I, s:I, s:s, s:n, s:[], s:n, s:s}", "name", x->name, "spec", x->path,
			      "set", own_settings(x, o), "points", (json_int_t)json_array_size(x->points), "messages",
			      (json_int_t)x->messages, "state", empty ? "skipped" : "pending", "run", "earlier",
			      "exit_status", "why", empty ? "no point matches --only" : "");

	forecast_to_json(&x->expected, j);
	return j;
}

static json_t *campaign_describe(const struct campaign_options *o, const struct study *s)
{
	json_t *experiments = json_array();
	char utc[32];

	for (size_t i = 0; i < s->count; i++)
		json_array_append_new(experiments, describe_experiment(&s->items[i], &o->overrides));
	return json_pack(
	    "{s:i, s:s, s:s, s:s, s:s, s:o, s:s, s:s, s:s, s:n, s:{s:b, s:o, s:s?, s:s?, s:s?, s:b, s:b}, s:o}",
	    "schema", 1, "study", s->name, "title", s->title, "path", s->path, "status", "RUNNING", "argv",
	    describe_command(o->argc, o->argv), "version", kblat_version, "commit", kblat_commit, "started_utc",
	    utc_now(utc, sizeof(utc), 0), "ended_utc", "options", "quick", o->overrides.quick, "only",
	    json_texts(o->overrides.only, o->overrides.only_count), "source", o->source, "sink", o->sink,
	    "profile_path", o->profile_path, "mask", o->mask, "no_state", o->no_state, "experiments", experiments);
}

static int make_directory(struct campaign *c, const struct campaign_options *o, const struct study *s, struct err *e)
{
	char *parent = o->out ? fs_path("%s", o->out) : fs_path("%s/runs", s->path);
	int rc = directory_make(parent, s->name, &c->path, &c->lock, e);

	free(parent);
	return rc;
}

static int begin(struct campaign *c, const struct campaign_options *o, const struct study *s, struct err *e)
{
	int rc = 0;

	c->j = campaign_describe(o, s);
	if (o->budget_s > 0)
		rc = budget_check(o->budget_s, json_object_get(c->j, "experiments"), e);
	if (!rc)
		rc = make_directory(c, o, s, e);
	return rc ? rc : record_save(c, e);
}

/* --- resuming a campaign --- */

static int check_resumable(const struct campaign_options *o, const json_t *j, const char *file, struct err *e)
{
	const struct spec_overrides *v = &o->overrides;
	const json_t *x;
	size_t i;

	if (json_integer_value(json_object_get(j, "schema")) != 1 || !json_is_array(json_object_get(j, "experiments")))
		return err_set(e, -EINVAL, STATUS_USAGE, file, NULL,
			       "it is not a campaign in a format that this kblat can read");
	json_array_foreach (json_object_get(j, "experiments"), i, x)
		if (!*json_text(x, "name") || !*json_text(x, "spec") || !*json_text(x, "state"))
			return err_set(e, -EINVAL, STATUS_USAGE, file, NULL, "experiments[%zu] is incomplete", i);
	if (v->quick || v->set_count || v->only_count || o->source || o->sink || o->profile_path || o->mask ||
	    o->no_state || o->out)
		return err_set(e, -EINVAL, STATUS_USAGE, file, NULL,
			       "--resume uses the campaign's original options; omit all others");
	return 0;
}

/* `kblat run STUDY --resume DIR`: the campaign must belong to that study. */
static int check_study(const struct campaign_options *o, const json_t *j, const char *file, struct err *e)
{
	char *real = o->path ? realpath(o->path, NULL) : NULL;
	bool same = !o->path || (real && !strcmp(real, json_text(j, "path")));

	free(real);
	return same ? 0
		    : err_set(e, -EINVAL, STATUS_USAGE, file, NULL, "it is a campaign of %s, not of %s",
			      json_text(j, "path"), o->path);
}

/* Update the expected durations with what has been measured since. */
static void expect_again(struct campaign *c)
{
	char *runs = fs_path("%s/..", c->path);
	json_t *x;
	size_t i;

	json_array_foreach (json_object_get(c->j, "experiments"), i, x) {
		struct forecast expected;

		if (budget_concerns(x) && !study_forecast(x, json_object_get(c->j, "options"), runs, &expected))
			forecast_to_json(&expected, x);
	}
	free(runs);
}

static int resume(struct campaign *c, const struct campaign_options *o, struct err *e)
{
	char *file;
	int rc;

	c->path = realpath(o->resume, NULL);
	if (!c->path)
		return err_sys(e, -errno, o->resume, "find the campaign");
	file = fs_path("%s/campaign.json", c->path);
	rc = directory_resume(c->path, "campaign.json", &c->lock, &c->j, e);
	rc = rc ?: check_resumable(o, c->j, file, e) ?: check_study(o, c->j, file, e);
	if (!rc && (o->budget_s > 0 || o->dry_run))
		expect_again(c);
	if (!rc && o->budget_s > 0)
		rc = budget_check(o->budget_s, json_object_get(c->j, "experiments"), e);
	free(file);
	return rc;
}

/* --- one experiment --- */

/* Options that are passed on to the experiments unchanged: the commands that they start, and where
 * to look for profiles. */
static const struct {
	const char *key, *flag, *meaning;
} passed_on[] = {
    {"source", "--source", "source endpoints will be started by"},
    {"sink", "--sink", "sink endpoints will be started by"},
    {"profile_path", "--profile-path", "profiles will be searched in"},
};

/* Print the options of a campaign that is resumed, because they are not on the command line. */
static void show_passed_on(const struct campaign *c)
{
	const json_t *options = json_object_get(c->j, "options");

	for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
		child_words_show(passed_on[i].meaning, json_text(options, passed_on[i].key));
}

/* The arguments with which `kblat` is started. */
static char **child_arguments(const struct campaign *c, const json_t *x, json_t **words)
{
	const json_t *options = json_object_get(c->j, "options");

	*words = json_pack("[s, s, s, s, s]", "kblat", "run", json_text(x, "spec"), "--out", c->path);
	child_words_add_flags(*words, options);
	if (c->verbosity)
		json_array_append_new(*words, json_string(c->verbosity));
	child_words_add_each(*words, "--set", json_object_get(x, "set"));
	child_words_add_each(*words, "--only", json_object_get(options, "only"));
	for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
		child_words_add(*words, passed_on[i].flag, json_text(options, passed_on[i].key));
	return child_words_argv(*words);
}

static void conclude_experiment(json_t *x, int status)
{
	char why[64];

	json_object_set_new(x, "exit_status", json_integer(status));
	snprintf(why, sizeof(why), status > 128 ? "ended by signal %d" : "exit status %d",
		 status > 128 ? status - 128 : status);
	if (status == STATUS_OK || status == STATUS_NO)
		record_set_state(x, "completed", "");
	else if (child_is_interrupted())
		record_set_state(x, "interrupted", "by a signal");
	else if (status == STATUS_IMPOSSIBLE)
		record_set_state(x, "impossible", "not possible on this machine");
	else
		record_set_state(x, "failed", why);
}

static int run_experiment(struct campaign *c, json_t *x, struct err *e)
{
	json_t *words;
	char **argv = child_arguments(c, x, &words), *line = NULL;
	int status, rc;

	const int64_t began_ms = monotonic_ms();

	record_put_away(x);
	record_set_state(x, "running", "");
	rc = record_save(c, e);
	status = rc ? rc : campaign_child_run(argv, c->json ? NULL : stdout, &line, e);
	if (status >= 0) {
		child_words_note_run(x, c->path, line);
		if (!c->json && *line && json_is_null(json_object_get(x, "run")))
			printf("%s\n", line);
		conclude_experiment(x, status);
		json_object_set_new(x, "took_s", json_real((double)(monotonic_ms() - began_ms) / 1000));
		rc = record_save(c, e);
	} else {
		rc = status;
	}
	free(line);
	free(argv);
	json_decref(words);
	return rc;
}

static int run_all(struct campaign *c, struct err *e)
{
	json_t *all = json_object_get(c->j, "experiments"), *x;
	size_t i;
	int rc = 0;

	json_array_foreach (all, i, x) {
		if (rc || child_is_interrupted() || !budget_concerns(x) || !budget_allows(&c->budget, all, x))
			continue;
		fprintf(stderr, "kblat: experiment %zu of %zu: %s\n", i + 1, json_array_size(all),
			json_text(x, "name"));
		if (!c->json)
			printf("== %s\n", json_text(x, "name"));
		rc = run_experiment(c, x, e);
		if (!c->json)
			printf("\n");
	}
	return rc;
}

/* --- entry points --- */

static enum status run_campaign(struct campaign *c, struct err *e)
{
	child_catch_signals();
	json_object_set_new(c->j, "status", json_string("RUNNING"));
	return run_all(c, e) ? e->status : campaign_end(c, e);
}

static enum status start_new(const struct campaign_options *o, struct campaign *c, struct err *e)
{
	struct study s;
	enum status status = STATUS_USAGE;

	if (!study_load(o->path, &o->overrides, o->out, &s, stderr, e)) {
		if (o->dry_run)
			status = campaign_plan_show(&s, o);
		else
			status = begin(c, o, &s, e) ? e->status : run_campaign(c, e);
	}
	study_free(&s);
	return e->status ? e->status : status;
}

enum status campaign_run(const struct campaign_options *o, struct err *e)
{
	struct campaign c = {
	    .lock = -1, .json = o->json, .verbosity = o->verbosity, .budget = {o->budget_s, monotonic_ms()}};
	enum status status;

	if (!o->resume && is_campaign(o->path)) {
		err_set(e, -EINVAL, STATUS_USAGE, o->path, NULL,
			"it is a campaign that was already started; 'kblat run --resume %s' continues it", o->path);
		status = e->status;
	} else if (!o->resume) {
		status = start_new(o, &c, e);
	} else if (resume(&c, o, e)) {
		status = e->status;
	} else {
		show_passed_on(&c);
		status = o->dry_run ? (campaign_end_print(&c), STATUS_OK) : run_campaign(&c, e);
	}
	if (c.lock >= 0)
		close(c.lock);
	json_decref(c.j);
	free(c.path);
	return status;
}
