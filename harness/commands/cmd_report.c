#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "commands/commands.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "files/rundir/reader.h"
#include "files/rundir/sealed.h"
#include "report/report.h"
#include "report/runs_page.h"
#include "study/kinds.h"

const struct cli_command cmd_report_cli = {
    .name = "report",
    .synopsis = "RUN...|CAMPAIGN|PAIRS|DIR",
    .summary = "draw the figures of a run and write its report.html",
    .details =
	"Generates derived/ in the first run's directory: figures/ (each as SVG and PDF, with the table it was drawn "
	"from) and report.html, a single file that works offline. With several runs, their points are shown next to "
	"each other. The report has an overview of all points; the medians against each numeric setting (size, rate) "
	"with at least three values, with the steps that a pacer missed below; a surface of the medians for each two "
	"such settings; a common histogram of two points that differ in one setting with two values; and a histogram "
	"for each point and flow, with 100 bins up to the point's limit. The last line of standard output is the "
	"path of the page.\n\n"
	"For a campaign, it generates the pages of all its runs and one page with an index and all claims. For a "
	"measurement of all pairs of hosts (`kblat run --hosts`), it draws the matrices from the data so far.\n\n"
	"For a folder of runs, one page lists all of them: " RUNS_PAGE_FILE
	" in that folder, with the medians over time. The index (kblat index) is updated first; the pages of the runs "
	"are not generated.\n\n"
	"gnuplot draws the figures, as many at once as there are CPUs. Without gnuplot, tables and page are still "
	"generated, and the exit status is 77.",
    .min_args = 1,
    .max_args = 64,
};

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
	struct run *runs = or_abort(calloc(args->count, sizeof(*runs)));
	char *html = NULL;
	size_t count;
	int rc;

	rc = open_runs(args, runs, &count, e);
	if (!rc)
		rc = report_make(runs, count, &html, e);
	/* The page may exist even if a figure is missing. */
	if (html)
		printf("%s\n", html);
	free(html);
	while (count) {
		sealed_unchanged(&runs[--count], e);
		run_close(&runs[count]);
	}
	free(runs);
	return e->status;
}

/* A folder that is no run, and in which there is none. */
static bool is_without_run(const char *dir)
{
	char *record = fs_path("%s/run.json", dir);
	const bool is_run = !access(record, F_OK);

	free(record);
	return fs_is_directory(dir) && !is_run;
}

static enum status make_page(const struct cli_list *args, void *unused, struct err *e)
{
	if (args->count == 1 && study_kind_at(args->items[0]))
		return make_of_many(study_page, args->items[0], e);
	if (args->count == 1 && runs_page_is(args->items[0]))
		return make_of_many(runs_page_make, args->items[0], e);
	(void)unused;
	if (args->count == 1 && is_without_run(args->items[0])) {
		err_set(e, -EINVAL, STATUS_USAGE, args->items[0], "make a report",
			"it is not a run directory, and there is none in it, three levels deep");
		return e->status;
	}
	return make(args, e);
}

enum status cmd_report(int argc, char **argv, struct err *e)
{
	return cli_run("kblat", &cmd_report_cli, NULL, argc, argv, make_page, NULL, e);
}
