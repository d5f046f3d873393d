/* kbtune run PROFILE -- CMD: applies the profile, runs the command, and restores everything,
 * whatever happens to the command or to kbtune itself (see guardian.h). */
#include <stdio.h>
#include <stdlib.h>

#include "tuning/apply/apply.h"
#include "tuning/apply/guardian.h"
#include "tuning/apply/restore.h"
#include "tuning/commands/command.h"
#include "tuning/commands/tune_commands.h"
#include "tuning/machine/child.h"
#include "tuning/machine/machine.h"

const struct cli_command tune_run_cli = {
    .name = "run",
    .synopsis = "PROFILE [--in SHIELD] [--replace] [--strict] [--without KNOB]... -- COMMAND [ARGUMENT]...",
    .summary = "Apply a profile, run a command, and restore everything when the command ends, after a signal, and when "
	       "kbtune is killed.",
    .details =
	"The exit status is that of the command, or 128+N if signal N ended it. The command runs outside the shields "
	"unless --in names one. In an isolated partition load is not balanced, so pin each thread to a CPU.",
    .min_args = 2,
    .max_args = 100000,
};

struct request {
	const char *sysroot;
	const struct cli_list *args;
	struct apply_options options;
};

static enum status apply_and_run(struct machine *m, const char *owner, void *request, struct err *e)
{
	struct request *r = request;
	enum status status, restored;
	struct err undo = ERR_INIT;
	char **command;
	int rc;

	r->options.owner = owner;
	status = apply_profile(m, r->args->items[0], &r->options, e);
	if (status)
		return status;
	command = command_words(r->args, 1);
	rc = child_run(m, r->options.in, command);
	free(command);
	restored = restore_patiently(m, owner, OUTPUT_NOTHING, &undo);
	if (restored) {
		fprintf(stderr, "kbtune: %s\n", undo.text);
		return rc ? (enum status)rc : restored;
	}
	return (enum status)rc;
}

static enum status run_act(struct machine *m, const struct cli_list *args, void *request, struct err *e)
{
	struct request *r = request;

	r->args = args;
	return guardian_run(m, r->sysroot, r->options.strict, apply_and_run, r, e);
}

enum status tune_run(int argc, char **argv, struct err *e)
{
	struct request r = {.options = {.output = OUTPUT_NOTHING}};
	enum status status;
	const struct cli_flag flags[] = {
	    {"in", CLI_STRING, &r.options.in, "SHIELD", "run the command inside this shield", 0, 0},
	    COMMAND_REPLACE(&r.options.replace),
	    COMMAND_STRICT(&r.options.strict),
	    COMMAND_WITHOUT(&r.options.without),
	    COMMAND_SYSROOT(&r.sysroot),
	    COMMAND_FLAGS_END};

	status = command_run(&(struct command){&tune_run_cli, flags, &r.sysroot, run_act, &r}, argc, argv, e);
	cli_list_free(&r.options.without);
	return status;
}
