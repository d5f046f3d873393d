#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands/commands.h"
#include "common/fs.h"
#include "common/units.h"
#include "measure/import/formats.h"
#include "measure/import/import.h"

const struct cli_command cmd_import_cli = {
    .name = "import",
    .synopsis = "FORMAT [--column NAME] [--unit us] [--name NAME] --out DIR FILE… | --list",
    .summary = "make run directories of the samples that another program has measured",
    .details = "Each file becomes one run directory in DIR, whose path is printed; verify, summary, compare, history, "
	       "report, index and export take it as any other. --list prints the formats. docs/import.md says which "
	       "option of which program writes them, and what cannot be known of such a run.\n\nA file that was cut "
	       "off, is of another format, or contains what cannot be a latency is refused, with the line; the files "
	       "before it stay imported. The time of a run is that of its file: compare needs it to see whether "
	       "two sets of runs took turns.",
    .min_args = 0,
    .max_args = 4096,
};

struct import_options {
	struct cli_list args;
	const char *limit;
	bool list;
	struct import_request request;
};

static void list_formats(void)
{
	for (const struct import_format *f = import_formats; f->name; f++)
		cli_print_item(f->name, 18, f->help, stdout);
}

static int import_check(struct import_options *o, struct err *e)
{
	struct import_request *q = &o->request;
	char why[200];

	if (o->args.count < 2)
		return err_set(e, -EINVAL, STATUS_USAGE, "kblat import", NULL, "give a format and at least one file");
	q->format = format_find(o->args.items[0]);
	if (!q->format)
		return err_set(e, -EINVAL, STATUS_USAGE, "kblat import", NULL,
			       "there is no format '%.60s'; kblat import --list lists them", o->args.items[0]);
	if (!q->out)
		return err_set(e, -EINVAL, STATUS_USAGE, "kblat import", NULL, "--out DIR is missing");
	if ((q->column && !q->format->takes_column) || (q->unit && !q->format->takes_unit))
		return err_set(e, -EINVAL, STATUS_USAGE, "kblat import", NULL,
			       "%s is not for the format %s, which has its own",
			       q->column && !q->format->takes_column ? "--column" : "--unit", q->format->name);
	if (q->unit && !reading_unit_ns(q->unit))
		return err_set(e, -EINVAL, STATUS_USAGE, "--unit", NULL, "must be ns, us, ms or s, not '%.60s'",
			       q->unit);
	if (o->limit && unit_parse(UNIT_TIME_NS, o->limit, &q->limit_ns, why, sizeof(why)))
		return err_set(e, -EINVAL, STATUS_USAGE, "--limit", NULL, "%s", why);
	return 0;
}

static enum status import_all(struct import_options *o, struct err *e)
{
	if (o->list) {
		list_formats();
		return STATUS_OK;
	}
	if (import_check(o, e))
		return e->status;
	for (size_t i = 1; i < o->args.count; i++) {
		char *path;

		if (import_file(&o->request, o->args.items[i], &path, e))
			return e->status;
		printf("%s\n", path);
		free(path);
	}
	return STATUS_OK;
}

enum status cmd_import(int argc, char **argv, struct err *e)
{
	struct import_options o = {.request = {.argc = argc, .argv = argv}};
	const struct cli_flag flags[] = {
	    {"out", CLI_STRING, &o.request.out, "DIR", "where to put the run directories", 0, 0},
	    {"column", CLI_STRING, &o.request.column, "NAME", "the column of a CSV file (its only one)", 0, 0},
	    {"unit", CLI_STRING, &o.request.unit, "UNIT",
	     "its unit, ns, us, ms or s, unless its name ends in that (lat_us)", 0, 0},
	    {"name", CLI_STRING, &o.request.name, "NAME",
	     "of the experiment (the format); compare takes runs of one name", 0, 0},
	    {"host", CLI_STRING, &o.request.host, "NAME", "the machine on which it was measured (unknown)", 0, 0},
	    {"boot", CLI_STRING, &o.request.boot, "ID", "the boot in which it was measured (unknown)", 0, 0},
	    {"limit", CLI_STRING, &o.limit, "TIME", "over which a message is late (10us)", 0, 0},
	    {"list", CLI_FLAG, &o.list, NULL, "list the formats", 0, 0},
	    {.name = NULL},
	};
	bool help;
	enum status status = STATUS_OK;

	if (cli_parse(&cmd_import_cli, flags, argc, argv, &o.args, &help, e) == 0) {
		if (help)
			cli_help("kblat", &cmd_import_cli, flags, stdout);
		else
			status = import_all(&o, e);
	}
	cli_list_free(&o.args);
	return e->status ? e->status : status;
}
