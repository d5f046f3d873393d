#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "analysis/summary.h"
#include "analysis/summary_csv.h"
#include "commands/commands.h"
#include "rundir/reader.h"

const struct cli_command cmd_export_cli = {
    .name = "export",
    .synopsis = "RUN --csv",
    .summary = "write the numbers of a run in another format",
    .details =
	"--csv: RFC 4180, one row a point and metric: id, valid, every setting, metric, n, lost, min, quantiles, "
	"max, mean, stdev, p90_p10, over_limit. Times are in nanoseconds; a value that does not exist is empty. The "
	"raw stamps "
	"need no "
	"export: every column is a NumPy file.",
    .min_args = 1,
    .max_args = 1,
};

static enum status export_csv(const char *path, struct err *e)
{
	struct run run;
	json_t *summary;
	int rc = run_open(path, &run, e);

	if (rc)
		return e->status;
	if (!run.sealed)
		fprintf(stderr, "kblat: %s: not sealed: computed from what is there\n", path);
	summary = summary_of_run(&run, e);
	rc = summary ? summary_csv(summary, stdout) : -EINVAL;
	if (rc && summary)
		err_sys(e, rc, "standard output", "write");
	json_decref(summary);
	run_close(&run);
	return rc ? e->status : STATUS_OK;
}

enum status cmd_export(int argc, char **argv, struct err *e)
{
	bool csv = false, help;
	const struct cli_flag flags[] = {
	    {"csv", CLI_FLAG, &csv, NULL, "comma-separated values, to standard output", 0, 0},
	    {.name = NULL},
	};
	struct cli_list args;
	enum status status = STATUS_OK;

	if (cli_parse(&cmd_export_cli, flags, argc, argv, &args, &help, e))
		return e->status;
	if (help)
		cli_help("kblat", &cmd_export_cli, flags, stdout);
	else if (!csv)
		err_set(e, -EINVAL, STATUS_USAGE, "kblat export", NULL, "no format is given; say --csv");
	else
		status = export_csv(args.items[0], e);
	cli_list_free(&args);
	return e->status ? e->status : status;
}
