#include "commands/import_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clean_stream.h"
#include "common/diag.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/units.h"
#include "measure/import/foreign.h"
#include "measure/import/formats.h"
#include "measure/run/channel.h"
#include "measure/run/environment.h"

static int refuse_format(const char *command, const char *format, struct err *e)
{
	char hint[SUGGESTION_MAX];
	const char **names;
	size_t n = 0;

	while (import_formats[n].name)
		n++;
	names = or_abort(calloc(n + 1, sizeof(*names)));
	for (size_t i = 0; i < n; i++)
		names[i] = import_formats[i].name;
	err_set(e, -EINVAL, STATUS_USAGE, command, NULL, "there is no format '%.60s'%s; kblat import --list lists them",
		format, suggestion(suggest(format, names), hint, sizeof(hint)));
	free(names);
	return -EINVAL;
}

int import_options_read(struct import_options *o, const char *command, const char *format, struct err *e)
{
	struct import_request *q = &o->request;
	char why[200];

	q->format = format_find(format);
	if (!q->format)
		return refuse_format(command, format, e);
	if ((q->column && !q->format->takes_column) || (q->unit && !q->format->takes_unit))
		return err_set(e, -EINVAL, STATUS_USAGE, command, NULL,
			       "%s is not for the format %s, which has its own",
			       q->column && !q->format->takes_column ? "--column" : "--unit", q->format->name);
	if (q->unit && !reading_unit_ns(q->unit))
		return err_set(e, -EINVAL, STATUS_USAGE, "--unit", NULL, "must be ns, us, ms or s, not '%.60s'",
			       q->unit);
	if (o->limit && unit_parse(UNIT_TIME_NS, o->limit, &q->limit_ns, why, sizeof(why)))
		return err_set(e, -EINVAL, STATUS_USAGE, "--limit", NULL, "%s", why);
	return 0;
}

/* --- kblat run --foreign --- */

#define TIMEOUT_MS 600000
#define BASE_WORDS 1024

/* What the arms point to. */
struct foreign_texts {
	char *environments, *base, *base_words[BASE_WORDS];
	const char **words;
};

/* "none": the machine as it is. */
static const char *profile_or_none(const char *name)
{
	return name && *name && strcmp(name, "none") != 0 ? name : NULL;
}

static int read_environments(const struct foreign_options *o, struct foreign_request *q, struct foreign_texts *t,
			     struct err *e)
{
	char *second;

	if (!o->environment)
		return 0;
	t->environments = or_abort(strdup(o->environment));
	second = strchr(t->environments, ',');
	if (second)
		*second++ = '\0';
	if (!*t->environments || (second && (!*second || strchr(second, ','))))
		return err_set(e, -EINVAL, STATUS_USAGE, "--environment", NULL,
			       "takes one profile, or two: none,quiet");
	if (second && q->arms == 1) { /* one command in two environments */
		q->arm[1] = q->arm[0];
		q->arms = 2;
	}
	q->arm[0].environment = profile_or_none(t->environments);
	q->arm[q->arms - 1].environment = profile_or_none(second ? second : t->environments);
	return 0;
}

static int read_arms(const struct foreign_options *o, const struct cli_list *words, struct foreign_request *q,
		     struct foreign_texts *t, struct err *e)
{
	int count, rc;

	t->words = or_abort(calloc(words->count + 1, sizeof(*t->words)));
	memcpy(t->words, words->items, words->count * sizeof(*t->words));
	q->arms = o->base ? 2 : 1;
	q->arm[0].words = q->arm[q->arms - 1].words = t->words;
	if (o->base) {
		t->base = or_abort(strdup(o->base));
		count = channel_split(t->base, t->base_words, BASE_WORDS, e);
		if (count < 0)
			return count;
		if (!count)
			return err_set(e, -EINVAL, STATUS_USAGE, "--base", NULL, "it is empty");
		q->arm[0].words = (const char *const *)t->base_words;
	}
	rc = read_environments(o, q, t, e);
	q->arm[0].name = q->arms == 2 ? "base" : "";
	if (q->arms == 2)
		q->arm[1].name = "new";
	return rc;
}

static int read_timeout(const struct foreign_options *o, struct foreign_request *q, struct err *e)
{
	int64_t ns = TIMEOUT_MS * 1000000LL;
	char why[200];

	if (o->timeout && unit_parse(UNIT_TIME_NS, o->timeout, &ns, why, sizeof(why)))
		return err_set(e, -EINVAL, STATUS_USAGE, "--timeout", NULL, "%s", why);
	q->limit_ms = ns / 1000000;
	return q->limit_ms > 0 ? 0
			       : err_set(e, -EINVAL, STATUS_USAGE, "--timeout", NULL, "must be at least a millisecond");
}

static void print_command(const struct foreign_arm *arm, FILE *out)
{
	for (size_t i = 0; arm->words[i]; i++)
		fprintf(out, " %s", arm->words[i]);
	fprintf(out, "%s%s\n", arm->environment ? " in " : "", arm->environment ? arm->environment : "");
}

static void show_begin(const struct foreign_arm *arm, long run, long runs)
{
	fprintf(stderr, "kblat: run %ld of %ld%s%s:", run, runs, *arm->name ? ", " : "", arm->name);
	print_command(arm, stderr);
}

static void show_nothing(const struct foreign_arm *arm, long run, long runs)
{
	(void)arm;
	(void)run;
	(void)runs;
}

static void show_path(const char *path)
{
	clean_stream_path(stdout, path);
}

static void show_warning(const char *text)
{
	fprintf(stderr, "kblat: warning: %s\n", text);
}

static void show_plan(const struct foreign_request *q)
{
	for (size_t i = 0; i < (size_t)q->runs * q->arms; i++) {
		const struct foreign_arm *arm = &q->arm[foreign_turn(q, i)];

		printf("%4zu: %s%s", i + 1, arm->name, *arm->name ? ":" : "");
		print_command(arm, stdout);
	}
}

/* Are there such profiles, and what would end it? */
static int foresee(const struct foreign_request *q, struct err *e)
{
	json_t *names = json_object();
	int rc;

	for (size_t i = 0; i < q->arms; i++)
		if (q->arm[i].environment)
			json_object_set_new(names, q->arm[i].environment, json_true());
	rc = environment_foresee(names, stderr, e);
	json_decref(names);
	return rc;
}

static enum status measure_foreign(const struct foreign_request *q, const struct foreign_how *how, struct err *e)
{
	if (how->dry_run) {
		if (foresee(q, e))
			return e->status;
		show_plan(q);
		return STATUS_OK;
	}
	if (foreign_measure(q, e) && e->status)
		return e->status;
	if (*how->interrupted) {
		fprintf(stderr, "kblat: interrupted; the runs so far are kept\n");
		return STATUS_FAILED;
	}
	if (q->arms == 2 && !how->quiet)
		fprintf(stderr, "kblat: kblat compare %s/base --with %s/new compares them\n", q->import.out,
			q->import.out);
	return STATUS_OK;
}

enum status foreign_options_run(struct foreign_options *o, const struct cli_list *words, const struct foreign_how *how,
				struct err *e)
{
	struct foreign_texts t = {.base = NULL};
	struct foreign_request q = {.runs = how->runs ? how->runs : 1,
				    .samples = o->samples,
				    .no_state = how->no_state,
				    .interrupted = how->interrupted,
				    .begin = how->quiet ? show_nothing : show_begin,
				    .ended = show_path,
				    .warn = show_warning};
	int rc = import_options_read(&o->import, "run --foreign", o->format, e);

	if (!rc && !words->count)
		rc = err_set(e, -EINVAL, STATUS_USAGE, "run --foreign", NULL, "give the command after --");
	q.import = o->import.request;
	q.import.out = how->out ? how->out : "runs";
	q.import.say = show_warning;
	q.import.argc = how->argc;
	q.import.argv = how->argv;
	rc = rc ? rc : read_timeout(o, &q, e);
	rc = rc ? rc : read_arms(o, words, &q, &t, e);
	if (!rc)
		rc = (int)measure_foreign(&q, how, e);
	free(t.environments);
	free(t.base);
	free(t.words);
	return e->status ? e->status : (enum status)rc;
}
