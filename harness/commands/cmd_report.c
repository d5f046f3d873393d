#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands/commands.h"
#include "pairs/pairs.h"
#include "report/campaign_page.h"
#include "report/report.h"
#include "report/runs_page.h"
#include "rundir/reader.h"

const struct cli_command cmd_report_cli = {
    .name = "report",
    .synopsis = "RUN...|CAMPAIGN|PAIRS|DIR",
    .summary = "draw the figures of a run and write its report.html",
    .details =
	"Makes derived/ in the first run's directory anew: figures/ (each as SVG and PDF, beside the table it was "
	"drawn from) and report.html, one file that needs nothing else and works offline. The points of further "
	"runs are shown beside those of the first. There is an overview of all points; medians against each "
	"numeric setting (size, rate) with at least three values, with the steps that a pacer missed beneath; "
	"where two settings have that, a surface of the medians over both; two points that differ in one setting "
	"with two values in one histogram; and a histogram for each point, of each of its flows, in 100 bins up to "
	"the point's limit. The last line on standard output is the path of the page.\n\n"
	"Of a campaign, the pages of all its runs are made, and one page with an index of them and all their "
	"claims. Of all pairs of hosts (`kblat run --hosts`), the matrices are drawn anew, from what has been "
	"measured so far.\n\n"
	"Of a folder with runs in it, one page lists all of them: " RUNS_PAGE_FILE
	" there, with their medians over time. The index (kblat index) is brought up to date for it; the runs' own "
	"pages are not made.\n\n"
	"gnuplot draws the figures, as many at once as there are CPUs. Without it, tables and page are made all the "
	"same, and the exit status is 77.",
    .min_args = 1,
    .max_args = 64,
};

static const struct cli_flag flags[] = {{.name = NULL}};

static int open_runs(const struct cli_list *args, struct run *runs, size_t *count, struct err *e)
{
	int rc = 0;

	for (*count = 0; !rc && *count < args->count; *count += !rc)
		rc = run_open(args->items[*count], &runs[*count], e);
	return rc;
}

static enum status make_of_many(int make(const char *dir, char **html, struct err *e), const char *dir, struct err *e)
{
	char *html = NULL;
	int rc = make(dir, &html, e);

	if (html)
		printf("%s\n", html);
	free(html);
	return rc ? e->status : STATUS_OK;
}

static enum status make(const struct cli_list *args, struct err *e)
{
	struct run *runs = calloc(args->count, sizeof(*runs));
	char *html = NULL;
	size_t count;
	int rc;

	if (!runs)
		return err_sys(e, -ENOMEM, NULL, "make a report"), e->status;
	rc = open_runs(args, runs, &count, e);
	if (!rc)
		rc = report_make(runs, count, &html, e);
	/* The page may be there even if a figure is not. */
	if (html)
		printf("%s\n", html);
	free(html);
	while (count)
		run_close(&runs[--count]);
	free(runs);
	return rc ? e->status : STATUS_OK;
}

enum status cmd_report(int argc, char **argv, struct err *e)
{
	struct cli_list args;
	enum status status;
	bool help;

	if (cli_parse(&cmd_report_cli, flags, argc, argv, &args, &help, e))
		return e->status;
	if (help)
		cli_help("kblat", &cmd_report_cli, flags, stdout);
	if (help)
		status = STATUS_OK;
	else if (args.count == 1 && campaign_page_is(args.items[0]))
		status = make_of_many(campaign_page_make, args.items[0], e);
	else if (args.count == 1 && pairs_is(args.items[0]))
		status = make_of_many(pairs_report, args.items[0], e);
	else if (args.count == 1 && runs_page_is(args.items[0]))
		status = make_of_many(runs_page_make, args.items[0], e);
	else
		status = make(&args, e);
	cli_list_free(&args);
	return status;
}
