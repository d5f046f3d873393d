#include "tuning/commands/command.h"

#include <stdlib.h>

#include "common/or_abort.h"
#include "tuning/commands/tune_commands.h"
#include "tuning/machine/machine.h"

enum status command_run(const struct command *c, int argc, char **argv, struct err *e)
{
	enum status status = STATUS_OK;
	struct cli_list args;
	struct machine m;
	bool help;

	if (cli_parse(c->cli, c->flags, argc, argv, &args, &help, e))
		return STATUS_USAGE;
	if (help) {
		cli_help("kbtune", c->cli, c->flags, stdout);
	} else if (machine_open(&m, c->sysroot ? *c->sysroot : NULL, e)) {
		status = failed(e);
	} else {
		status = c->act(&m, &args, c->request, e);
		machine_close(&m);
	}
	cli_list_free(&args);
	return status;
}

char **command_words(const struct cli_list *args, size_t from)
{
	char **words = or_abort(calloc(args->count - from + 1, sizeof(*words)));

	for (size_t i = from; i < args->count; i++)
		words[i - from] = (char *)args->items[i];
	return words;
}
