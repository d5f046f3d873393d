#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "common/fs.h"
#include "common/json.h"
#include "judge/compare/compare_runs.h"
#include "judge/compare/history.h"
#include "report/history_page.h"

const struct cli_command cmd_history_cli = {
    .name = "history",
    .synopsis = "RUN|DIR… [--json]",
    .summary = "many builds in order of time: where did the level change?",
    .details = "Shows one value for each boot, in order of time, from sealed runs of one experiment (folders are "
	       "searched for them), and where the level seems to change. This is a hint which two builds to compare "
	       "with kblat compare, not a verdict. If a folder has a current index (kblat index), it is read instead "
	       "of the runs.\n\nExit status: 0, whether or not the level changes; 2 bad input.",
    .min_args = 1,
    .max_args = 4096,
};

struct asked {
	const char *metric, *quantity, *experiment, *out;
	struct cli_list ignore;
	bool json;
};

static void print_history_json(const struct history *history)
{
	json_t *json = history_json(history);

	json_print(json, stdout);
	json_decref(json);
}

static void show_history(const struct compare_join *j, const char *quantity, const struct asked *asked, struct err *e)
{
	struct history history = history_of(j, quantity);
	char *html = NULL;

	if (asked->json)
		print_history_json(&history);
	else
		history_table(&history, stdout);
	if (asked->out)
		history_page_make(asked->out, j->runs, &history, &html, e);
	if (html && !asked->json)
		printf("%s\n", html);
	free(html);
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

static enum status history_of_paths(const struct cli_list *paths, const struct asked *asked, struct err *e)
{
	const char *named = asked->quantity, *quantity;
	char *block = compare_quantity_split(asked->metric, &named);
	const struct compare_choice choice = {.metric = block ? block : asked->metric,
					      .ignore = asked->ignore.items,
					      .ignore_count = asked->ignore.count};
	struct compare_runs runs = {.count = 0};
	struct compare_join join = {.count = 0};
	int rc = find_quantity(choice.metric, named, &quantity, e);

	for (size_t i = 0; !rc && i < paths->count; i++)
		rc = compare_runs_add_indexed(&runs, paths->items[i], ARM_BASE, asked->experiment, e);
	rc = rc ?: compare_units(&runs, UNIT_AUTO, e) ?: compare_join(&join, &runs, &choice, e);
	if (!rc)
		show_history(&join, quantity, asked, e);
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
	char *names = compare_quantity_names(NULL, " or "), *quantile_help = mark_default(names);
	bool help;
	const struct cli_flag flags[] = {
	    {"metric", CLI_STRING, &asked.metric, "NAME", "such as rtt_ns (the default is each point's first)", 0, 0},
	    {"quantile", CLI_STRING, &asked.quantity, "Q", quantile_help, 0, 0},
	    {"experiment", CLI_STRING, &asked.experiment, "NAME", "only runs of this experiment", 0, 0},
	    {"ignore", CLI_LIST, &asked.ignore, "KEY",
	     "match points even if they differ in this setting; may be repeated", 0, 0},
	    {"out", CLI_STRING, &asked.out, "DIR",
	     "also write report.html, history.json and the figures there (a new directory)", 0, 0},
	    {"json", CLI_FLAG, &asked.json, NULL, "print JSON", 0, 0},
	    {.name = NULL},
	};
	struct cli_list args = {NULL, 0};
	enum status status = STATUS_USAGE;

	if (!cli_parse(&cmd_history_cli, flags, argc, argv, &args, &help, e)) {
		if (help)
			cli_help("kblat", &cmd_history_cli, flags, stdout);
		status = help ? STATUS_OK : history_of_paths(&args, &asked, e);
	}
	cli_list_free(&args);
	cli_list_free(&asked.ignore);
	free(quantile_help);
	free(names);
	return status;
}
