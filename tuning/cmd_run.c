/* kbtune run PROFILE -- CMD: applied, run, undone, whatever happens to CMD or (see guardian.h) to us. */
#include <stdio.h>
#include <stdlib.h>

#include "tuning/child.h"
#include "tuning/commands.h"
#include "tuning/guardian.h"
#include "tuning/machine.h"

const struct cli_command cmd_run_cli = {
    .name = "run",
    .synopsis = "PROFILE [--in SHIELD] [--replace] [--strict] -- COMMAND [ARGUMENT]...",
    .summary =
	"Apply a profile, run a command, and put everything back when it ends, on a signal, and when kbtune dies.",
    .details =
	"The exit status is the command's; 128+N if signal N ended it. The command runs outside of the shields unless "
	"--in names one. A partition that is isolated does not balance load: pin each thread to its CPU.",
    .min_args = 2,
    .max_args = 100000,
};

static enum status run(struct machine *m, const char *profile, const char *in, const struct apply_options *o,
		       char *const command[], struct err *e)
{
	enum status status = apply_profile(m, profile, o, e), restored;
	struct err undo = ERR_INIT;
	int rc;

	if (status)
		return status;
	rc = child_run(m, in, command, e);
	restored = restore_all(m, SAY_NOTHING, &undo);
	if (restored) {
		fprintf(stderr, "kbtune: %s\n", undo.text);
		return rc > 0 ? (enum status)rc : restored;
	}
	return rc < 0 ? failed(e) : (enum status)rc;
}

static enum status run_guarded(const char *sysroot, const char *profile, const char *in, const struct apply_options *o,
			       char *const command[], struct err *e)
{
	struct guardian guardian;
	enum status status;
	struct machine m;

	if (guardian_start(&guardian, sysroot, e))
		return failed(e);
	if (machine_open(&m, sysroot, e)) {
		status = failed(e);
	} else {
		status = run(&m, profile, in, o, command, e);
		machine_close(&m);
	}
	guardian_end(&guardian);
	return status;
}

enum status cmd_run(int argc, char **argv, struct err *e)
{
	const char *sysroot = NULL, *in = NULL;
	struct apply_options o = {.say = SAY_NOTHING};
	bool help;
	const struct cli_flag flags[] = {
	    {"in", CLI_STRING, &in, "SHIELD", "run the command inside this shield", 0, 0},
	    {"replace", CLI_FLAG, &o.replace, NULL, "restore what is applied first", 0, 0},
	    {"strict", CLI_FLAG, &o.strict, NULL, "refuse where a setting is not possible here", 0, 0},
	    {"sysroot", CLI_STRING, &sysroot, "DIR", "work on a recorded machine below DIR", 0, 0},
	    {NULL, CLI_FLAG, NULL, NULL, NULL, 0, 0}};
	enum status status = STATUS_OK;
	struct cli_list args;
	char **command;

	if (cli_parse(&cmd_run_cli, flags, argc, argv, &args, &help, e))
		return STATUS_USAGE;
	if (help) {
		cli_help("kbtune", &cmd_run_cli, flags, stdout);
	} else {
		command = calloc(args.count, sizeof(*command));
		if (!command)
			abort();
		for (size_t i = 1; i < args.count; i++)
			command[i - 1] = (char *)args.items[i];
		guardian_hold_signals();
		status = run_guarded(sysroot, args.items[0], in, &o, command, e);
		free(command);
	}
	cli_list_free(&args);
	return status;
}
