#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands/commands.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "files/rundir/reader.h"
#include "judge/analysis/explain_trace.h"
#include "judge/analysis/samples_csv.h"
#include "judge/analysis/summary_build.h"
#include "judge/observatory/observatory_csv.h"
#include "measure/spec/spec.h"

#define PERFETTO_WORST 100 /* of a flow */

const struct cli_command cmd_export_cli = {
    .name = "export",
    .synopsis = "RUN --csv | RUN --samples [--point ID] | RUN --perfetto [--point ID] | RUN… --observatory DIR | "
		"CONFIG --spec [--transport NAME]",
    .summary = "write the numbers of a run in another format, or another program's configuration as a spec",
    .details =
	"--csv: RFC 4180, one row for each point and metric: id, valid, every setting, metric, n, lost, min, "
	"quantiles, max, mean, stdev, p90_p10, over_limit. Times are in nanoseconds; missing values are empty. "
	"The raw stamps need no export: every column is a NumPy file.\n\n--samples: every message of "
	"a point, with its repetition and the time of each series; kblat import csv reads it.\n\n--perfetto: the worst "
	"late messages or requests "
	"(100 of a flow) and what happened meanwhile, as a trace for ui.perfetto.dev or chrome://tracing; of points "
	"measured with 'explain: yes', and of kblat trace.\n\n--observatory: "
	"the files that "
	"Observatory's own programs would write: a CSV file for each operation and direction, with a row for "
	"each repetition, in seconds, operations per second and bytes per second. Existing files are not "
	"overwritten; the export stops at the first one.\n\n--spec: prints a configuration of Observatory "
	"(JSON) as a spec (YAML). docs/observatory.md describes the translation.",
    .min_args = 1,
    .max_args = 64,
};

struct export_options {
	struct cli_list args;
	bool csv, samples, perfetto, spec;
	long point;
	const char *observatory, *transport;
};

static int open_run(const char *path, struct run *run, struct err *e)
{
	int rc = run_open(path, run, e);

	if (!rc && !run->sealed)
		fprintf(stderr, "kblat: %s: not sealed: computed from the data so far\n", path);
	return rc;
}

static enum status export_csv(const char *path, struct err *e)
{
	struct run run;
	struct summary *summary;
	int rc = open_run(path, &run, e);

	if (rc)
		return e->status;
	summary = summary_of_run(&run, e);
	rc = summary ? summary_csv(summary, stdout) : -EINVAL;
	if (rc && summary)
		err_sys(e, rc, "standard output", "write");
	summary_free(summary);
	run_close(&run);
	return rc ? e->status : STATUS_OK;
}

static enum status export_samples(const struct export_options *o, struct err *e)
{
	struct run run;
	int rc = open_run(o->args.items[0], &run, e);

	if (rc)
		return e->status;
	rc = samples_csv(&run, o->point, stdout, e);
	run_close(&run);
	return rc ? e->status : STATUS_OK;
}

static enum status export_perfetto(const struct export_options *o, struct err *e)
{
	struct run run;
	json_t *trace;

	if (open_run(o->args.items[0], &run, e))
		return e->status;
	trace = explain_trace(&run, o->point, PERFETTO_WORST, e);
	if (trace)
		json_print(trace, stdout);
	json_decref(trace);
	run_close(&run);
	return trace ? STATUS_OK : e->status;
}

static enum status export_observatory(const struct export_options *o, struct err *e)
{
	struct run *runs = or_abort(calloc(o->args.count, sizeof(*runs)));
	size_t open = 0, skipped = 0;
	int rc = 0;

	while (!rc && open < o->args.count) {
		rc = open_run(o->args.items[open], &runs[open], e);
		open += !rc;
	}
	if (!rc)
		rc = observatory_csv_write(runs, open, o->observatory, &skipped, e);
	if (!rc && skipped)
		fprintf(stderr, "kblat: %zu point%s left out: not measured, or nothing that Observatory measures\n",
			skipped, skipped == 1 ? " is" : "s are");
	for (size_t i = 0; i < open; i++)
		run_close(&runs[i]);
	free(runs);
	return rc ? e->status : STATUS_OK;
}

static enum status export_spec(const struct export_options *o, struct err *e)
{
	char *set = o->transport ? fs_path("transport=%s", o->transport) : NULL;
	const struct spec_overrides overrides = {.set = (const char *const *)&set, .set_count = set ? 1 : 0};
	enum status status = STATUS_USAGE;
	struct spec spec;
	struct diag diag;

	if (spec_load(o->args.items[0], &overrides, &spec, &diag)) {
		diag_print(&diag, stderr);
	} else if (!spec.original) {
		err_set(e, -EINVAL, STATUS_USAGE, o->args.items[0], NULL,
			"it is already a spec; --spec converts configurations of Observatory");
	} else {
		fputs(spec.text, stdout);
		status = STATUS_OK;
	}
	diag_print(&spec.warnings, stderr);
	diag_free(&diag);
	spec_free(&spec);
	free(set);
	return status;
}

static int check_options(const struct export_options *o, struct err *e)
{
	const int formats = o->csv + o->samples + o->perfetto + o->spec + !!o->observatory;

	if (formats != 1)
		return err_set(e, -EINVAL, STATUS_USAGE, "kblat export", NULL,
			       "%s; use one of --csv, --samples, --perfetto, --observatory DIR, --spec",
			       formats ? "more than one format is given" : "no format is given");
	if (o->transport && !o->spec)
		return err_set(e, -EINVAL, STATUS_USAGE, "kblat export", NULL, "--transport requires --spec");
	if (o->point >= 0 && !o->samples && !o->perfetto)
		return err_set(e, -EINVAL, STATUS_USAGE, "kblat export", NULL,
			       "--point requires --samples or --perfetto");
	if (o->args.count > 1 && !o->observatory)
		return err_set(e, -EINVAL, STATUS_USAGE, "kblat export", NULL,
			       "only --observatory accepts several runs");
	return 0;
}

static enum status export_it(const struct export_options *o, struct err *e)
{
	if (check_options(o, e))
		return e->status;
	if (o->observatory)
		return export_observatory(o, e);
	if (o->samples)
		return export_samples(o, e);
	if (o->perfetto)
		return export_perfetto(o, e);
	return o->spec ? export_spec(o, e) : export_csv(o->args.items[0], e);
}

enum status cmd_export(int argc, char **argv, struct err *e)
{
	struct export_options o = {.point = -1};
	const struct cli_flag flags[] = {
	    {"csv", CLI_FLAG, &o.csv, NULL, "comma-separated values, to standard output", 0, 0},
	    {"samples", CLI_FLAG, &o.samples, NULL, "every sample of a point, to standard output", 0, 0},
	    {"perfetto", CLI_FLAG, &o.perfetto, NULL, "the worst late messages as a trace, to standard output", 0, 0},
	    {"point", CLI_INT, &o.point, "ID", "which point (with --samples the only one, with --perfetto all)", 0,
	     999999},
	    {"observatory", CLI_STRING, &o.observatory, "DIR", "Observatory's result files, into DIR", 0, 0},
	    {"spec", CLI_FLAG, &o.spec, NULL, "a configuration of Observatory as a spec, to standard output", 0, 0},
	    {"transport", CLI_STRING, &o.transport, "NAME", "the transport of that spec (verbs)", 0, 0},
	    {.name = NULL},
	};
	bool help;
	enum status status = STATUS_OK;

	if (cli_parse(&cmd_export_cli, flags, argc, argv, &o.args, &help, e) == 0) {
		if (help)
			cli_help("kblat", &cmd_export_cli, flags, stdout);
		else
			status = export_it(&o, e);
	}
	cli_list_free(&o.args);
	return e->status ? e->status : status;
}
