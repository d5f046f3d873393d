#include <stdio.h>

#include "commands/commands.h"
#include "common/json.h"
#include "judge/index/index_file.h"
#include "judge/index/index_update.h"

const struct cli_command cmd_index_cli = {
    .name = "index",
    .synopsis = "DIR [--anew] [--json]",
    .summary = "list the runs below a folder in an SQLite file",
    .details =
	"Reads the runs below DIR (three levels deep, without following links) and writes " INDEX_FILE
	" there: tables of runs, points, settings, metrics and the machine's state, for any SQLite client "
	"(docs/runs.md). Unless all of them are in it unchanged, it is made anew. kblat report DIR also does that, "
	"and kblat history reads it if it is current.\n\n"
	"Everything in the index comes from the run directories. It can be deleted at any time.\n\n"
	"Exit status: 0 the index is current, 1 it could not be written, 2 bad input.",
    .min_args = 1,
    .max_args = 1,
};

static void index_print_json(const char *dir, const struct index_changes *c)
{
	json_t *said = json_pack("{s:o, s:I, s:I, s:I, s:I, s:b}", "folder", json_outside(dir), "runs",
				 (json_int_t)c->runs, "read", (json_int_t)c->read, "removed", (json_int_t)c->removed,
				 "unreadable", (json_int_t)c->unreadable, "replaced", c->replaced);

	json_print(said, stdout);
	json_decref(said);
}

static void index_print_text(const char *dir, const struct index_changes *c)
{
	if (c->replaced)
		fprintf(stderr, "%s/" INDEX_FILE " was damaged or of another version, and has been rebuilt\n", dir);
	if (c->unreadable)
		fprintf(stderr, "%zu run%s could not be read; the table \"unreadable\" says why\n", c->unreadable,
			c->unreadable == 1 ? "" : "s");
	printf("%zu run%s, %zu read now, %zu gone: %s/" INDEX_FILE "\n", c->runs, c->runs == 1 ? "" : "s", c->read,
	       c->removed, dir);
}

enum status cmd_index(int argc, char **argv, struct err *e)
{
	bool anew = false, json = false, help;
	const struct cli_flag flags[] = {
	    {"anew", CLI_FLAG, &anew, NULL, "make it anew in any case", 0, 0},
	    {"json", CLI_FLAG, &json, NULL, "print JSON", 0, 0},
	    {.name = NULL},
	};
	struct index_changes changes;
	struct cli_list args;
	enum status status = STATUS_OK;

	if (cli_parse(&cmd_index_cli, flags, argc, argv, &args, &help, e))
		return e->status;
	if (help)
		cli_help("kblat", &cmd_index_cli, flags, stdout);
	else if (index_update(args.items[0], anew, &changes, e))
		status = e->status;
	else if (json)
		index_print_json(args.items[0], &changes);
	else
		index_print_text(args.items[0], &changes);
	cli_list_free(&args);
	return status;
}
