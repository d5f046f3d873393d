#include "common/program_json.h"

#include "common/version.h"

static const char *const kinds[] = {
    [CLI_FLAG] = "flag", [CLI_STRING] = "text", [CLI_INT] = "number", [CLI_LIST] = "list"};

static json_t *program_json_flags(const struct cli_flag *flags)
{
	json_t *list = json_array();

	for (const struct cli_flag *f = flags; f && f->name; f++) {
		json_t *j = json_pack("{s:s, s:s, s:s?, s:s}", "name", f->name, "kind", kinds[f->kind], "metavar",
				      f->metavar, "help", f->help);

		if (f->kind == CLI_INT && (f->min || f->max)) {
			json_object_set_new(j, "min", json_integer(f->min));
			json_object_set_new(j, "max", json_integer(f->max));
		}
		json_array_append_new(list, j);
	}
	return list;
}

/* Called by a command instead of printing its help. */
static void program_json_command(void *commands, const struct cli_command *c, const struct cli_flag *flags)
{
	json_array_append_new(commands, json_pack("{s:s, s:s, s:s, s:s?, s:o}", "name", c->name, "synopsis",
						  c->synopsis, "summary", c->summary, "details", c->details, "flags",
						  program_json_flags(flags)));
}

/* The table of flags is inside of a command's function, so it is called with --help. */
static json_t *program_json_commands(const struct program *p)
{
	json_t *commands = json_array();
	struct err e = ERR_INIT;

	cli_help_divert(program_json_command, commands);
	for (const struct program_command *c = p->commands; c->cli; c++) {
		char name[64], help[] = "--help", *argv[] = {name, help, NULL};

		snprintf(name, sizeof(name), "%s", c->cli->name);
		if (!c->hidden)
			c->run(2, argv, &e);
	}
	cli_help_divert(NULL, NULL);
	return commands;
}

static json_t *program_json_statuses(const struct program *p)
{
	json_t *list = json_array();

	for (const struct program_status *s = p->statuses; s->meaning; s++)
		json_array_append_new(list, json_pack("{s:i, s:s}", "status", (int)s->status, "meaning", s->meaning));
	return list;
}

json_t *program_json(const struct program *p)
{
	return json_pack("{s:i, s:s, s:s, s:s, s:o, s:o}", "schema", 1, "name", p->name, "version", kblat_version,
			 "about", p->about, "statuses", program_json_statuses(p), "commands", program_json_commands(p));
}
