#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "common/units.h"
#include "files/rundir/reader.h"
#include "files/rundir/sealed.h"
#include "judge/analysis/summary.h"
#include "judge/analysis/summary_build.h"
#include "judge/analysis/summary_json.h"
#include "judge/analysis/summary_table.h"

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

/* --- periods, in words: a line for each point, flow and series --- */

static void put_ns(json_int_t ns, FILE *out)
{
	char text[32];

	fputs(unit_human_ns(ns, text, sizeof(text)), out);
}

/* "; 31-32: 5.1 us" */
static void put_groups(const struct summary_phase_list *groups, FILE *out)
{
	for (size_t i = 0; i < groups->count; i++) {
		const char *phases = groups->list[i].phases;
		char clean[256];

		fprintf(out, "; %s: ", text_clean(phases, strlen(phases), clean, sizeof(clean)));
		put_ns(groups->list[i].p50_ns, out);
	}
}

static void put_period(json_int_t period, double strength, FILE *out)
{
	fprintf(out, "period %" JSON_INTEGER_FORMAT ", %.3g %%", period, 100 * strength);
}

static void put_none(json_int_t longest, FILE *out)
{
	if (longest)
		fprintf(out, "no period up to %" JSON_INTEGER_FORMAT "\n", longest);
	else
		fputs("too few messages to search for periods\n", out);
}

static void put_periods(const struct summary_block *b, FILE *out)
{
	const struct number *n = b->numbers;

	fprintf(out, "%s: ", text_shown(b->about ? b->about : ""));
	/* One that explains nothing is no period. */
	if (!number_is_known(n[PATTERN_PERIOD]) || !(number_or_zero(n[PATTERN_STRENGTH]) > 0)) {
		put_none(number_count(n[PATTERN_LONGEST]), out);
		return;
	}
	put_period(number_count(n[PATTERN_PERIOD]), number_or_zero(n[PATTERN_STRENGTH]), out);
	fputs("; base ", out);
	put_ns(number_count(n[PATTERN_BASE_NS]), out);
	put_groups(&b->pattern->high, out);
	put_groups(&b->pattern->low, out);
	fputs("\n", out);
	for (size_t i = 0; i < b->pattern->nested_count; i++) {
		const struct summary_period *nested = &b->pattern->nested[i];

		fputs("           then ", out);
		put_period(nested->period, nested->strength, out);
		put_groups(&nested->high, out);
		put_groups(&nested->low, out);
		fputs("\n", out);
	}
}

static void put_pattern(const struct summary_point *point, const struct summary_block *b, FILE *out)
{
	const char *dot = *b->flow ? "." : "";

	fprintf(out, "%5" JSON_INTEGER_FORMAT "  %s%s", point->id, text_shown(b->flow), dot);
	put_periods(b, out);
	for (size_t i = 0; i < b->pattern->other_count; i++) {
		fprintf(out, "       %s%s", text_shown(b->flow), dot);
		put_periods(&b->pattern->others[i], out);
	}
}

/* `summary` has the blocks (judge/analysis/pattern.h). */
static void pattern_text(const struct summary *summary, FILE *out)
{
	fputs("Periods: after how many messages latencies repeat, the share of the variance of ranks that this "
	      "explains, and the phases that stand out (counted from 1)\n\npoint\n",
	      out);
	for (size_t i = 0; i < summary->point_count; i++)
		for (size_t k = 0; k < summary->points[i].results.block_count; k++)
			if (summary->points[i].results.blocks[k].of == &pattern_block)
				put_pattern(&summary->points[i], &summary->points[i].results.blocks[k], out);
}

/* --- summaries --- */

/* The summary of a run of an earlier version does not contain periods, so it is made again from the columns. `*document`:
 * summary.json as it is, or a new one. */
static int get_summary(const char *path, bool pattern, struct summary **summary, json_t **document, struct err *e)
{
	struct run run;
	int rc = run_open(path, &run, e);

	if (rc)
		return rc;
	if (!run.sealed)
		fprintf(stderr, "kblat: %s: not sealed: summarised from the data so far\n", path);
	*summary = pattern ? summary_build(run.path, &run.record, run.resolved, e) : summary_of_run(&run, e);
	if (*summary && pattern)
		summary_doubt(*summary, &run);
	if (*summary && !sealed_unchanged(&run, e) && run.sealed && run.summary && !pattern)
		*document = json_incref(run.summary);
	else if (*summary)
		*document = summary_encode(*summary);
	run_close(&run);
	return *summary ? 0 : -EINVAL;
}

static void show_as_text(struct summary *const *summaries, size_t count, bool pattern)
{
	summary_table((const struct summary *const *)summaries, count, stdout);
	for (size_t i = 0; pattern && i < count; i++) {
		printf("\n");
		pattern_text(summaries[i], stdout);
	}
}

static enum status show_summaries(const struct cli_list *args, void *options, struct err *e)
{
	const struct choices *choices = options;
	struct summary **summaries = or_abort(calloc(args->count, sizeof(*summaries)));
	json_t *documents = json_array(), *document = NULL;
	int rc = 0;

	for (size_t i = 0; !rc && i < args->count; i++) {
		rc = get_summary(args->items[i], choices->pattern, &summaries[i], &document, e);
		if (!rc)
			json_array_append_new(documents, document);
	}
	/* One run: its summary.json. Several: an array of them. */
	if (!rc && choices->json)
		json_print(args->count == 1 ? json_array_get(documents, 0) : documents, stdout);
	else if (!rc)
		show_as_text(summaries, args->count, choices->pattern);
	for (size_t i = 0; i < args->count; i++)
		summary_free(summaries[i]);
	json_decref(documents);
	free(summaries);
	return e->status;
}

enum status cmd_summary(int argc, char **argv, struct err *e)
{
	struct choices choices = {0};
	const struct cli_flag flags[] = {
	    {"json", CLI_FLAG, &choices.json, NULL, "print summary.json (of several runs: an array of them)", 0, 0},
	    {"pattern", CLI_FLAG, &choices.pattern, NULL,
	     "also show after how many messages latencies repeat (for old runs, too: from their columns)", 0, 0},
	    {.name = NULL},
	};

	return cli_run("kblat", &cmd_summary_cli, flags, argc, argv, show_summaries, &choices, e);
}
