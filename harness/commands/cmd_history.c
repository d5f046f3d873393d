#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands/commands.h"
#include "commands/shared_options.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "files/rundir/run_mode.h"
#include "judge/compare/compare_causes.h"
#include "judge/compare/compare_runs.h"
#include "judge/compare/history.h"
#include "report/checked_page.h"
#include "report/compare_page.h"
#include "report/derived.h"
#include "report/history_page.h"

const struct cli_command cmd_history_cli = {
    .name = "history",
    .synopsis = "RUN|DIR… [--json]",
    .summary = "many builds in order of time: where did the level change?",
    .details =
	"Shows one value for each boot, in order of time, from sealed runs of one experiment (folders are "
	"searched for them), and where the level seems to change, for three boots or more; a single one that is far "
	"from its neighbours is called odd. This is a hint which two builds to compare "
	"with kblat compare, not a verdict. If a folder has a current index (kblat index), it is read instead "
	"of the runs.\n\n--bundle orders by kernel, compares each kernel with the one before, as kblat compare "
	"does, and makes "
	"a folder that can be published as it is: index.html, the figures, the pages of the comparisons and, "
	"below runs/, those of the runs that have one: made again, after the run was checked; what is wrong with "
	"one is said on the first page.\n\nExit status: 0, whether or not the level changes; 2 bad input.",
    .min_args = 1,
    .max_args = 4096,
};

struct asked {
	const char *metric, *quantity, *experiment, *out, *bundle;
	struct cli_list ignore;
	bool json, by_kernel;
};

static void print_history_json(const struct history *history)
{
	json_t *json = history_json(history);

	json_print(json, stdout);
	json_decref(json);
}

/* --- each kernel compared with the one before --- */

struct step {
	char *folder; /* of its page, in the bundle */
	struct compare_runs runs;
	struct compare_join join;
	struct comparison result;
};

static int add_kernel(struct compare_runs *to, const struct compare_runs *all, const char *kernel, enum compare_arm arm,
		      struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < all->count && !rc; i++)
		if (!strcmp(all->run[i].kernel, kernel))
			rc = compare_runs_add(to, all->run[i].run.path, arm, NULL, e);
	return rc;
}

static int judge_step(struct step *s, const struct compare_runs *all, const char *from, const char *to,
		      const struct compare_choice *choice, struct err *e)
{
	const char *judge[COMPARE_JUDGE_MOST];
	struct compare_rule rule = {.effect = 0.02, .seed = 1, .alpha = COMPARE_ALPHA};
	int rc = add_kernel(&s->runs, all, from, ARM_BASE, e) ?: add_kernel(&s->runs, all, to, ARM_WITH, e) ?:
		 compare_units(&s->runs, UNIT_AUTO, e) ?: compare_join(&s->join, &s->runs, choice, e);

	if (rc)
		return rc;
	compare_judge_of_runs(&s->runs, &rule, judge, s->join.notes);
	return compare_judge_causes(&s->join, &rule, NULL, &s->result, e);
}

static void steps_free(struct step *steps, size_t count)
{
	for (struct step *s = steps; s < steps + count; s++) {
		comparison_free(&s->result);
		compare_join_free(&s->join);
		compare_runs_free(&s->runs);
		free(s->folder);
	}
	free(steps);
}

/* All steps, of which history_add_step() is told. `count` becomes their number. The caller frees, on failure, too. */
static struct step *judge_steps(const struct compare_runs *all, const struct compare_choice *choice, struct history *h,
				size_t *count, struct err *e)
{
	json_t *builds = compare_values(all, ARM_BASE, FIELD_KERNEL);
	struct step *steps = or_abort(calloc(json_array_size(builds) + 1, sizeof(*steps)));
	int rc = 0;

	for (*count = 0; *count + 1 < json_array_size(builds) && !rc;) {
		const char *from = json_string_value(json_array_get(builds, *count)),
			   *to = json_string_value(json_array_get(builds, *count + 1));
		struct step *s = &steps[(*count)++];
		char *page;

		s->folder = fs_path("step-%02zu", *count);
		page = fs_path("%s/report.html", s->folder);
		rc = judge_step(s, all, from, to, choice, e);
		if (!rc)
			history_add_step(h, from, to, &s->result, page);
		free(page);
	}
	json_decref(builds);
	return steps;
}

/* --- a folder to publish --- */

/* Does the run have a page? Only then one is made of it for the folder. */
static bool has_own_page(const struct compare_run *r)
{
	char *page = fs_path("%s/derived/report.html", r->run.path);
	const bool there = !fs_is_missing(page);

	free(page);
	return there;
}

/* Its page, made again; what is wrong with the run is said on the folder's. */
static int publish_run(const char *dir, const struct compare_run *r, struct history *h, struct err *e)
{
	const char *name = strrchr(r->run.path, '/') + 1;
	char *folder = fs_path("%s/runs/%s", dir, name), *link = fs_path("runs/%s/report.html", name), *html = NULL,
	     *why = NULL;
	int rc = checked_page_make(&r->run, folder, &html, &why, e);

	if (!rc)
		history_add_page(h, name, html ? link : NULL, why);
	free(why);
	free(html);
	free(link);
	free(folder);
	return rc;
}

static int publish_runs(const char *dir, const struct compare_runs *all, struct history *h, struct err *e)
{
	int rc = derived_directory(dir, e);

	for (size_t i = 0; i < all->count && !rc; i++)
		if (has_own_page(&all->run[i]))
			rc = publish_run(dir, &all->run[i], h, e);
	return rc;
}

static void write_bundle(const char *dir, const struct compare_runs *all, struct history *h, const struct step *steps,
			 size_t count, char **html, struct err *e)
{
	const mode_t mask = run_mode_limit(compare_runs_mode(all));
	int rc = publish_runs(dir, all, h, e);

	umask(mask);
	if (rc)
		return;
	rc = history_page_make(dir, "index.html", all, h, html, e);
	/* Without gnuplot there are pages without figures. */
	for (size_t i = 0; i < count && (!rc || e->status == STATUS_IMPOSSIBLE); i++) {
		char *folder = fs_path("%s/%s", dir, steps[i].folder), *page = NULL;
		struct err own = ERR_INIT;

		if (compare_page_make(folder, &steps[i].join, &steps[i].result, &page, &own) && !e->status)
			rc = err_set(e, -EIO, own.status, NULL, NULL, "%s", own.text);
		free(page);
		free(folder);
	}
}

static void write_page(const char *dir, const struct compare_runs *all, const struct history *h, char **html,
		       struct err *e)
{
	const mode_t mask = run_mode_limit(compare_runs_mode(all));
	const int rc = derived_directory(dir, e);

	umask(mask);
	if (!rc)
		history_page_make(dir, NULL, all, h, html, e);
}

static void show_history(const struct compare_join *j, const char *quantity, const struct compare_choice *choice,
			 const struct asked *asked, struct err *e)
{
	struct history history = history_of(j, quantity, asked->by_kernel || asked->bundle);
	size_t count = 0;
	struct step *steps = asked->bundle ? judge_steps(j->runs, choice, &history, &count, e) : NULL;
	char *html = NULL;

	if (!e->status && asked->json)
		print_history_json(&history);
	else if (!e->status)
		history_table(&history, stdout);
	if (!e->status && asked->bundle)
		write_bundle(asked->bundle, j->runs, &history, steps, count, &html, e);
	else if (!e->status && asked->out)
		write_page(asked->out, j->runs, &history, &html, e);
	if (html && !asked->json)
		printf("%s\n", html);
	free(html);
	steps_free(steps, count);
	history_free(&history);
}

/* If no name is given, the first one: for a series, the median. */
static int find_quantity(const char *metric, const char *name, const char **key, struct err *e)
{
	size_t count;
	struct compare_quantity *list;

	if (name)
		return compare_quantity_find("--quantile", metric, name, key, e);
	list = compare_quantity_list(metric, &count);
	*key = list[0].key;
	free(list);
	return 0;
}

static enum status history_of_paths(const struct cli_list *paths, void *options, struct err *e)
{
	const struct asked *asked = options;
	const char *named = asked->quantity, *quantity;
	char *block = compare_quantity_split(asked->metric, &named);
	const struct compare_choice choice = {.metric = block ? block : asked->metric,
					      .ignore = asked->ignore.items,
					      .ignore_count = asked->ignore.count};
	struct compare_runs runs = {.count = 0};
	struct compare_join join = {.count = 0};
	int rc = asked->out && asked->bundle
		     ? err_set(e, -EINVAL, STATUS_USAGE, "--bundle", NULL, "it makes a page of its own; omit --out")
		     : find_quantity(choice.metric, named, &quantity, e);

	for (size_t i = 0; !rc && i < paths->count; i++)
		rc = compare_runs_add_indexed(&runs, paths->items[i], ARM_BASE, asked->experiment, e);
	rc = rc ?: compare_units(&runs, UNIT_AUTO, e) ?: compare_join(&join, &runs, &choice, e);
	compare_runs_say_passed(&runs);
	if (!rc)
		show_history(&join, quantity, &choice, asked, e);
	compare_join_free(&join);
	compare_runs_free(&runs);
	free(block);
	return e->status;
}

/* "p50 (the default), p90 or p99". The caller frees. */
static char *mark_default(const char *names)
{
	size_t first = strcspn(names, ", ");

	return fs_path("%.*s (the default)%s", (int)first, names, names + first);
}

enum status cmd_history(int argc, char **argv, struct err *e)
{
	struct asked asked = {.json = false};
	enum status status;
	char *names = compare_quantity_names(NULL, " or "), *quantile_help = mark_default(names);
	const struct cli_flag flags[] = {
	    {"metric", CLI_STRING, &asked.metric, "NAME", "such as rtt_ns (the default is each point's first)", 0, 0},
	    {"quantile", CLI_STRING, &asked.quantity, "Q", quantile_help, 0, 0},
	    {"experiment", CLI_STRING, &asked.experiment, "NAME", "only runs of this experiment", 0, 0},
	    {"ignore", CLI_LIST, &asked.ignore, "KEY",
	     "match points even if they differ in this setting; may be repeated", 0, 0},
	    {"by-kernel", CLI_FLAG, &asked.by_kernel, NULL,
	     "order builds by their kernels, in the order in which these first ran (for kernels that alternate)", 0, 0},
	    {"out", CLI_STRING, &asked.out, "DIR",
	     "also write report.html, history.json and the figures there (a new directory)", 0, 0},
	    {"bundle", CLI_STRING, &asked.bundle, "DIR",
	     "also compare each kernel with the one before, and make a folder of pages to publish (a new directory)", 0,
	     0},
	    {"json", CLI_FLAG, &asked.json, NULL, "print JSON", 0, 0},
	    {.name = NULL},
	};

	status = cli_run("kblat", &cmd_history_cli, flags, argc, argv, history_of_paths, &asked, e);
	cli_list_free(&asked.ignore);
	free(quantile_help);
	free(names);
	return status;
}
