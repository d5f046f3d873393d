#include "commands/shared_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/program.h"
#include "common/units.h"
#include "judge/compare/compare_runs.h"
#include "measure/spec/experiments.h"

/* --- to run a spec --- */

/* Add a --set whose text is owned elsewhere. */
static void add_shorthand(struct cli_list *set, const char *text)
{
	set->items = or_abort(realloc(set->items, (set->count + 1) * sizeof(*set->items)));
	set->items[set->count++] = text;
}

static void read_shorthands(struct shared_options *w)
{
	if (w->device) {
		w->kept[0] = fs_path("device=%s", w->device);
		add_shorthand(&w->set, w->kept[0]);
	}
	if (w->reps) {
		w->kept[1] = fs_path("repetitions=%ld", w->reps);
		add_shorthand(&w->set, w->kept[1]);
	}
}

/* "30min", "8h". */
static int read_budget(struct shared_options *w, struct err *e)
{
	char why[256];

	if (!w->budget)
		return 0;
	if (unit_parse(UNIT_TIME_NS, w->budget, &w->budget_ns, why, sizeof(why)))
		return err_set(e, -EINVAL, STATUS_USAGE, "--budget", NULL, "%s", why);
	if (w->budget_ns > 0 && !w->budget[strspn(w->budget, "0123456789")])
		return err_set(e, -EINVAL, STATUS_USAGE, "--budget", NULL,
			       "'%.20s' would be nanoseconds; write it as 30min or 8h", w->budget);
	if (w->budget_ns <= 0)
		return err_set(e, -EINVAL, STATUS_USAGE, "--budget", NULL,
			       "must be longer than 0; write it as 30min or 8h");
	return 0;
}

static int read_profile_path(struct shared_options *w, struct err *e)
{
	w->profiles = w->profile_path ? realpath(w->profile_path, NULL) : NULL;
	if (w->profile_path && (!w->profiles || setenv("KBTUNE_PROFILES", w->profiles, 1)))
		return err_sys(e, -errno, w->profile_path, "look for profiles there");
	w->profile_path = w->profiles;
	return 0;
}

int shared_options_read(struct shared_options *w, struct err *e)
{
	read_shorthands(w);
	w->overrides = (struct spec_overrides){
	    .set = w->set.items,
	    .set_count = w->set.count,
	    .only = w->only.items,
	    .only_count = w->only.count,
	    .quick = w->quick,
	};
	return read_budget(w, e) ?: read_profile_path(w, e);
}

int shared_options_find(struct shared_options *w, const char **asked, const char **out, struct err *e)
{
	w->spec = experiments_find(*asked);
	if (access(w->spec, F_OK) && errno == ENOENT) {
		char hint[SUGGESTION_MAX], *nearest = experiments_suggest(*asked);

		err_set(e, -ENOENT, STATUS_USAGE, *asked, NULL,
			"there is no such file, and no experiment of this name ('kblat list experiments' lists them)%s",
			suggestion(nearest, hint, sizeof(hint)));
		free(nearest);
		return -ENOENT;
	}
	*asked = w->spec;
	if (!*out && experiments_is_installed(w->spec))
		*out = "runs";
	return 0;
}

void shared_options_free(struct shared_options *w)
{
	cli_list_free(&w->set);
	cli_list_free(&w->only);
	free(w->kept[0]);
	free(w->kept[1]);
	free(w->profiles);
	free(w->spec);
}

void compare_runs_say_passed(const struct compare_runs *runs)
{
	char *text = compare_runs_passed_text(runs);

	if (text)
		fprintf(stderr, "kblat: %s\n", text);
	free(text);
}

/* --- verdicts --- */

int verdict_options_read(struct verdict_options *o, bool json, struct err *e)
{
	if (o->name && json)
		return err_set(e, -EINVAL, STATUS_USAGE, "--format", NULL, "cannot be combined with --json");
	return verdict_format_find(o->name, &o->format, e) ?: verdict_exit_find(o->exit, e);
}

enum status verdict_options_status(const char *whose, enum status status)
{
	program_lost_output_is(verdict_exit_status(whose, STATUS_FAILED));
	return (enum status)verdict_exit_status(whose, status);
}

enum status verdict_options_exit(int argc, char *const *argv, enum status status)
{
	const char *whose = NULL;

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (!strncmp(argv[i], "--exit=", 7))
			whose = argv[i] + 7;
		else if (!strcmp(argv[i], "--exit") && i + 1 < argc)
			whose = argv[i + 1];
	}
	return whose ? verdict_options_status(whose, status) : status;
}
