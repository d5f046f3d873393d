#include "tuning/commands/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/or_abort.h"
#include "common/text.h"
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
		status = err_status(e);
	} else {
		status = c->act(&m, &args, c->request, e);
		machine_close(&m);
	}
	cli_list_free(&args);
	return status;
}

static enum status refuse_action(const char *command, const struct command_action *actions, const char *word,
				 struct err *e)
{
	char quoted[TEXT_QUOTE_MAX], names[256] = "";
	size_t used = 0;

	for (const struct command_action *a = actions; a->name && used < sizeof(names); a++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", used ? ", " : "", a->name);
	err_set(e, -EINVAL, STATUS_USAGE, command, NULL, "unknown action %s: %s",
		text_quote(word, quoted, sizeof(quoted)), names);
	return STATUS_USAGE;
}

enum status command_act(const char *command, const struct command_action *actions, const struct cli_list *args,
			void *request, struct err *e)
{
	const struct command_action *a = actions;

	while (a->name && strcmp(a->name, args->items[0]))
		a++;
	if (!a->name)
		return refuse_action(command, actions, args->items[0], e);
	if (args->count - 1 >= a->min_args && args->count - 1 <= a->max_args)
		return a->run(request);
	err_set(e, -EINVAL, STATUS_USAGE, command, NULL, "wrong number of arguments for '%s'; see kbtune %s --help",
		a->name, command);
	return STATUS_USAGE;
}

char **command_words(const struct cli_list *args, size_t from)
{
	char **words = or_abort(calloc(args->count - from + 1, sizeof(*words)));

	for (size_t i = from; i < args->count; i++)
		words[i - from] = (char *)args->items[i];
	return words;
}
