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

struct asked {
	bool anew, json;
};

static enum status update(const struct cli_list *args, void *options, struct err *e)
{
	const struct asked *asked = options;
	struct index_changes changes;

	if (!index_update(args->items[0], asked->anew, &changes, e))
		(asked->json ? index_print_json : index_print_text)(args->items[0], &changes);
	return e->status;
}

enum status cmd_index(int argc, char **argv, struct err *e)
{
	struct asked asked = {.anew = false};
	const struct cli_flag flags[] = {
	    {"anew", CLI_FLAG, &asked.anew, NULL, "make it anew in any case", 0, 0},
	    {"json", CLI_FLAG, &asked.json, NULL, "print JSON", 0, 0},
	    {.name = NULL},
	};

	return cli_run("kblat", &cmd_index_cli, flags, argc, argv, update, &asked, e);
}
