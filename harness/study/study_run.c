#include "study/study_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clean_stream.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/monotonic.h"
#include "common/or_abort.h"
#include "common/table_print.h"
#include "common/trust.h"
#include "common/version.h"
#include "files/rundir/writer.h"
#include "measure/run/run.h"
#include "study/runner.h"
#include "study/study.h"
#include "study/study_record.h"

/* --- a new study --- */

static char *copy_or_null(const char *text)
{
	return text ? fs_path("%s", text) : NULL;
}

static struct words own_words(const char *const *texts, size_t count)
{
	struct words w = {NULL, 0};

	for (size_t i = 0; i < count; i++)
		words_add(&w, fs_path("%s", texts[i]));
	return w;
}

/* What is the same in all kinds; a kind may change it in plan(). */
static void describe_study(struct study *s, const struct study_request *r)
{
	const struct spec_overrides *v = &r->overrides;
	char utc[32];

	s->title = fs_path("%s", "");
	s->version = fs_path("%s", kblat_version);
	s->commit = fs_path("%s", kblat_commit);
	s->started_utc = fs_path("%s", utc_now(utc, sizeof(utc), 0));
	s->argv = describe_command(r->argc, r->argv);
	s->options = (struct study_options){.quick = v->quick,
					    .mask = r->mask,
					    .no_state = r->no_state,
					    .set = own_words(v->set, v->set_count),
					    .only = own_words(v->only, v->only_count),
					    .source = copy_or_null(r->source),
					    .sink = copy_or_null(r->sink),
					    .profile_path = copy_or_null(r->profile_path),
					    .at_once = r->at_once};
}

/* --- a study that is continued --- */

static bool has_options(const struct study_request *r)
{
	const struct spec_overrides *v = &r->overrides;

	return v->quick || v->set_count || v->only_count || r->hosts || r->out || r->source || r->sink ||
	       r->profile_path || r->mask || r->state || r->no_state || r->at_once;
}

/* If a path is given, it must be that of the study. */
static int check_spec_path(const struct study *s, const struct study_request *r, struct err *e)
{
	char *real = r->path ? realpath(r->path, NULL) : NULL;
	const bool same = !r->path || (real && !strcmp(real, s->spec));

	free(real);
	return same ? 0
		    : err_set(e, -EINVAL, STATUS_USAGE, s->path, NULL, "it is a study of %s, not of %s", s->spec,
			      r->path);
}

static int reopen(struct study *s, const struct study_request *r, struct err *e)
{
	if (has_options(r))
		return err_set(e, -EINVAL, STATUS_USAGE, r->resume, NULL,
			       "--resume uses the study's original options; omit all others");
	return study_record_resume(s, r->resume, e) ?: check_spec_path(s, r, e);
}

/* --- running --- */

static int measure_in_order(struct study *s, struct err *e)
{
	struct runner runner;
	int rc = 0, finished;

	runner_open(&runner, s, 1);
	for (size_t i = 0; i < s->count && !rc; i++)
		if (cell_is_left(&s->cell[i]))
			rc = runner_start(&runner, i, e);
	finished = runner_finish(&runner, e);
	runner_close(&runner);
	return rc ?: finished;
}

static int measure_cells(struct study *s, struct err *e)
{
	runner_catch_signals();
	s->status = STUDY_RUNNING;
	return study_record_save(s, e) ?: (s->kind->measure ? s->kind->measure : measure_in_order)(s, e);
}

static enum study_status final_status(const struct study *s, enum status status)
{
	if (runner_is_interrupted())
		return STUDY_INTERRUPTED;
	if (status == STATUS_FAILED)
		return STUDY_FAILED;
	return s->status == STUDY_PARTIAL || study_count(s, CELL_PENDING) ? STUDY_PARTIAL : STUDY_COMPLETED;
}

/* The record says how it ended, whatever could not be judged. */
static enum status finish(struct study *s, bool failed, struct err *e)
{
	char utc[32];
	enum status status = failed ? err_status(e) : s->kind->judge(s, e);

	free(s->ended_utc);
	s->ended_utc = fs_path("%s", utc_now(utc, sizeof(utc), 0));
	s->status = final_status(s, status);
	if (study_record_save(s, e))
		status = err_status(e);
	if (s->kind->leave)
		s->kind->leave(s);
	if (runner_is_interrupted())
		fprintf(stderr, "kblat: interrupted; `%s --resume %s` continues it\n", s->kind->command, s->path);
	/* What is in a format is not followed by anything else. */
	clean_stream_path(s->request->format ? stderr : stdout, s->path);
	return status;
}

static enum status work(struct study *s, struct err *e)
{
	const int rc = measure_cells(s, e);

	return s->goes_on && !rc ? STATUS_OK : finish(s, rc != 0, e);
}

/* --- the whole --- */

void study_print_cells(const struct study *s)
{
	static const struct table_column columns[] = {
	    {.label = "state", .least = 12},
	    {.label = "cell", .least = 28, .most = TABLE_WHOLE},
	    {.label = "why it is left, or its run", .most = TABLE_WHOLE},
	};
	struct table t = table_of(columns, sizeof(columns) / sizeof(*columns), s->count);

	for (size_t i = 0; i < s->count; i++) {
		const struct cell *c = &s->cell[i];

		table_text(&t, 0, i, "%s", cell_states[c->state]);
		table_text(&t, 1, i, "%s", c->name ? c->name : "");
		table_text(&t, 2, i, "%s", *c->why ? c->why : c->run ? c->run : "");
	}
	table_print(&t, &(struct table_style){.gap = 1, .bare = true}, stdout);
	table_free(&t);
	printf("\n");
}

static enum status show(const struct study *s, const struct study_request *r)
{
	if (s->kind->show)
		s->kind->show(s, r);
	else
		study_print_cells(s);
	return STATUS_OK;
}

static enum status check_possible(struct study *s, const struct study_request *r, struct err *e)
{
	return s->kind->check ? s->kind->check(s, r, e) : STATUS_OK;
}

static int prepare_kind(struct study *s, struct err *e)
{
	return s->kind->prepare ? s->kind->prepare(s, e) : 0;
}

static enum status begin_new(struct study *s, const struct study_request *r, struct err *e)
{
	enum status status;

	describe_study(s, r);
	status = s->kind->plan(s, r, e);
	if (status != STATUS_OK || r->dry_run)
		return status != STATUS_OK ? status : show(s, r);
	status = check_possible(s, r, e);
	if (status != STATUS_OK)
		return status;
	return study_record_begin(s, e) || prepare_kind(s, e) ? err_status(e) : work(s, e);
}

static enum status go_on(struct study *s, const struct study_request *r, struct err *e)
{
	enum status status;

	if (reopen(s, r, e))
		return err_status(e);
	runner_show_brought(s);
	status = check_possible(s, r, e);
	if (status != STATUS_OK)
		return status;
	if (prepare_kind(s, e))
		return err_status(e);
	return r->dry_run ? show(s, r) : work(s, e);
}

enum status study_run(const struct study_kind *kind, const struct study_request *r, struct err *e)
{
	struct study s = {.kind = kind, .lock = -1, .request = r, .began_ms = monotonic_ms()};
	const enum status status = r->resume ? go_on(&s, r, e) : begin_new(&s, r, e);

	study_free(&s);
	return status;
}

int study_report(const struct study_kind *kind, const char *dir, char **html, struct err *e)
{
	struct study s = {.kind = kind, .lock = -1};
	int rc;

	*html = NULL;
	rc = study_record_open(&s, dir, e) ?: trust_addition(s.path, "write its page", e) ?: kind->report(&s, html, e);
	study_free(&s);
	return rc;
}
