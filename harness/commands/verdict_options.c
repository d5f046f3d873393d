#include "commands/verdict_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int verdict_options_read(struct verdict_options *o, bool json, struct err *e)
{
	if (o->name && json)
		return err_set(e, -EINVAL, STATUS_USAGE, "--format", NULL, "cannot be combined with --json");
	return verdict_format_find(o->name, &o->format, e) ?: verdict_exit_find(o->exit, e);
}

enum status verdict_options_status(const char *whose, enum status status)
{
	return (enum status)verdict_exit_status(whose, fflush(stdout) ? STATUS_FAILED : status);
}

enum status verdict_options_exit(int argc, char *const *argv, enum status status)
{
	const char *whose = NULL;

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (!strncmp(argv[i], "--exit=", 7))
			whose = argv[i] + 7;
		else if (!strcmp(argv[i], "--exit") && i + 1 < argc)
			whose = argv[i + 1];
	}
	return whose ? verdict_options_status(whose, status) : status;
}
