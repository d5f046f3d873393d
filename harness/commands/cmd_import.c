#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands/commands.h"
#include "commands/import_options.h"
#include "common/clean_stream.h"
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

struct import_command {
	bool list;
	struct import_options import;
};

static void list_formats(void)
{
	for (const struct import_format *f = import_formats; f->name; f++)
		cli_print_item(f->name, 18, f->help, stdout);
}

static void say(const char *text)
{
	fprintf(stderr, "kblat: %s\n", text);
}

static enum status import_all(const struct cli_list *args, void *options, struct err *e)
{
	struct import_command *o = options;
	struct import_request *q = &o->import.request;

	if (o->list) {
		list_formats();
		return STATUS_OK;
	}
	if (args->count < 2)
		err_set(e, -EINVAL, STATUS_USAGE, "import", NULL, "give a format and at least one file");
	else if (!import_options_read(&o->import, "import", args->items[0], e) && !q->out)
		err_set(e, -EINVAL, STATUS_USAGE, "import", NULL, "--out DIR is missing");
	for (size_t i = 1; !e->status && i < args->count; i++) {
		char *path;

		if (import_file(q, args->items[i], &path, e))
			return e->status;
		clean_stream_path(stdout, path);
		free(path);
	}
	return e->status;
}

enum status cmd_import(int argc, char **argv, struct err *e)
{
	struct import_command o = {.import = {.request = {.argc = argc, .argv = argv, .say = say}}};
	const struct cli_flag flags[] = {
	    {"out", CLI_STRING, &o.import.request.out, "DIR", "where to put the run directories", 0, 0},
	    IMPORT_OPTIONS_FLAGS(o.import),
	    {"host", CLI_STRING, &o.import.request.host, "NAME", "the machine on which it was measured (unknown)", 0,
	     0},
	    {"boot", CLI_STRING, &o.import.request.boot, "ID", "the boot in which it was measured (unknown)", 0, 0},
	    {"list", CLI_FLAG, &o.list, NULL, "list the formats", 0, 0},
	    {.name = NULL},
	};

	return cli_run("kblat", &cmd_import_cli, flags, argc, argv, import_all, &o, e);
}
