#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/pattern_text.h"
#include "analysis/summary.h"
#include "analysis/summary_table.h"
#include "commands/commands.h"
#include "common/json.h"
#include "rundir/reader.h"

const struct cli_command cmd_summary_cli = {
    .name = "summary",
    .synopsis = "RUN... [--pattern] [--json]",
    .summary = "show the numbers of one or several runs",
    .details = "Prints one row for each point, with the settings in which points differ, and the latencies of the "
	       "first metric in microseconds. Points that are not valid are marked with '!', and the reasons are given "
	       "below the table.\n\nA run that is not sealed (because it is still running, or was killed) is "
	       "summarised from the data so far.",
    .min_args = 1,
    .max_args = 64,
};

struct choices {
	bool json, pattern;
};

/* The summary of a run of an earlier version does not contain periods, so it is made again from the columns. */
static int get_summary(const char *path, bool pattern, json_t **summary, struct err *e)
{
	struct run run;
	int rc = run_open(path, &run, e);

	if (rc)
		return rc;
	if (!run.sealed)
		fprintf(stderr, "kblat: %s: not sealed: summarised from the data so far\n", path);
	*summary = pattern ? summary_build(run.path, run.run, run.resolved, e) : summary_of_run(&run, e);
	run_close(&run);
	return *summary ? 0 : -EINVAL;
}

/* One run: its summary.json. Several: an array of them. */
static void print_summaries_json(json_t **summaries, size_t count)
{
	json_t *all = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append(all, summaries[i]);
	json_print(count == 1 ? summaries[0] : all, stdout);
	json_decref(all);
}

static enum status show_summaries(const struct cli_list *args, const struct choices *choices, struct err *e)
{
	json_t **summaries = calloc(args->count, sizeof(*summaries));
	int rc = summaries ? 0 : err_sys(e, -ENOMEM, NULL, "summarise");

	for (size_t i = 0; !rc && i < args->count; i++)
		rc = get_summary(args->items[i], choices->pattern, &summaries[i], e);
	if (!rc && choices->json)
		print_summaries_json(summaries, args->count);
	else if (!rc)
		summary_table((const json_t *const *)summaries, args->count, stdout);
	for (size_t i = 0; !rc && !choices->json && choices->pattern && i < args->count; i++) {
		printf("\n");
		pattern_text(summaries[i], stdout);
	}
	for (size_t i = 0; summaries && i < args->count; i++)
		json_decref(summaries[i]);
	free(summaries);
	return rc ? e->status : STATUS_OK;
}

enum status cmd_summary(int argc, char **argv, struct err *e)
{
	struct choices choices = {0};
	bool help;
	const struct cli_flag flags[] = {
	    {"json", CLI_FLAG, &choices.json, NULL, "print summary.json (of several runs: an array of them)", 0, 0},
	    {"pattern", CLI_FLAG, &choices.pattern, NULL,
	     "also show after how many messages latencies repeat (for old runs, too: from their columns)", 0, 0},
	    {.name = NULL},
	};
	struct cli_list args;
	enum status status;

	if (cli_parse(&cmd_summary_cli, flags, argc, argv, &args, &help, e))
		return e->status;
	if (help)
		cli_help("kblat", &cmd_summary_cli, flags, stdout);
	status = help ? STATUS_OK : show_summaries(&args, &choices, e);
	cli_list_free(&args);
	return status;
}
