#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "common/json.h"
#include "compare/history.h"
#include "report/history_page.h"

const struct cli_command cmd_history_cli = {
    .name = "history",
    .synopsis = "RUN|DIR… [--json]",
    .summary = "many builds in order: where did the level change?",
    .details = "One value a boot, in order of time, from sealed runs of one experiment (folders are searched for "
	       "them), and where "
	       "the level seems to change: a hint which two builds to give to kblat compare, not a verdict.\n\n"
	       "Exit status: 0, whatever the level does; 2 bad input.",
    .min_args = 1,
    .max_args = 4096,
};

struct asked {
	const char *metric, *quantity, *experiment, *out;
	struct cli_list ignore;
	bool json;
};

static int find_quantity(const char *name, size_t *quantity, struct err *e)
{
	const char *key = !name ? "p50" : !strcmp(name, "p99.9") ? "p99_9" : name;

	for (*quantity = 0; *quantity < COMPARE_QUANTITIES; ++*quantity)
		if (!strcmp(compare_quantities[*quantity].key, key))
			return 0;
	return err_set(e, -EINVAL, STATUS_USAGE, "--quantile", NULL,
		       "must be one of p50, p90, p99, p99.9, over_limit, not '%s'", name);
}

static void show(const struct compare_join *j, size_t quantity, const struct asked *asked, struct err *e)
{
	json_t *history = history_of(j, quantity);
	char *html = NULL;

	if (asked->json)
		json_print(history, stdout);
	else
		history_table(history, stdout);
	if (asked->out)
		history_page_make(asked->out, history, &html, e);
	if (html && !asked->json)
		printf("%s\n", html);
	free(html);
	json_decref(history);
}

static enum status tell(const struct cli_list *paths, const struct asked *asked, struct err *e)
{
	const struct compare_choice choice = {
	    .metric = asked->metric, .ignore = asked->ignore.items, .ignore_count = asked->ignore.count};
	struct compare_runs runs = {.count = 0};
	struct compare_join join = {.count = 0};
	size_t quantity;
	int rc = find_quantity(asked->quantity, &quantity, e);

	for (size_t i = 0; !rc && i < paths->count; i++)
		rc = compare_runs_add(&runs, paths->items[i], ARM_BASE, asked->experiment, e);
	rc = rc ?: compare_units(&runs, UNIT_AUTO, e) ?: compare_join(&join, &runs, &choice, e);
	if (!rc)
		show(&join, quantity, asked, e);
	compare_join_free(&join);
	compare_runs_free(&runs);
	return e->status;
}

enum status cmd_history(int argc, char **argv, struct err *e)
{
	struct asked asked = {.json = false};
	bool help;
	const struct cli_flag flags[] = {
	    {"metric", CLI_STRING, &asked.metric, "NAME", "such as rtt_ns (the default is each point's first)", 0, 0},
	    {"quantile", CLI_STRING, &asked.quantity, "Q", "p50 (the default), p90, p99, p99.9 or over_limit", 0, 0},
	    {"experiment", CLI_STRING, &asked.experiment, "NAME", "only runs of this experiment", 0, 0},
	    {"ignore", CLI_LIST, &asked.ignore, "KEY", "join points that differ in this setting; may be repeated", 0,
	     0},
	    {"out", CLI_STRING, &asked.out, "DIR",
	     "also write report.html, history.json and the figures there (a new directory)", 0, 0},
	    {"json", CLI_FLAG, &asked.json, NULL, "print JSON", 0, 0},
	    {.name = NULL},
	};
	struct cli_list args;
	enum status status;

	if (cli_parse(&cmd_history_cli, flags, argc, argv, &args, &help, e))
		return e->status;
	if (help)
		cli_help("kblat", &cmd_history_cli, flags, stdout);
	status = help ? STATUS_OK : tell(&args, &asked, e);
	cli_list_free(&args);
	cli_list_free(&asked.ignore);
	return status;
}
