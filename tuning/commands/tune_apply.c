/* kbtune apply. */
#include <stdbool.h>

#include "tuning/apply/apply.h"
#include "tuning/commands/command.h"
#include "tuning/commands/tune_commands.h"

const struct cli_command tune_apply_cli = {
    .name = "apply",
    .synopsis = "PROFILE [--replace] [--strict] [--without KNOB]... [--dry-run] [--sysroot DIR] [--json]",
    .summary = "Make the changes of a profile, all or none. The old values are written to a journal first, every new "
	       "value is read back, and if one step fails, all are undone.",
    .details = "The profile stays applied until 'kbtune restore' (in any process) or a reboot. A tuned profile "
	       "survives a reboot; 'kbtune restore' undoes that, too.",
    .min_args = 1,
    .max_args = 1,
};

struct request {
	const char *sysroot;
	struct apply_options options;
	bool json, dry_run;
};

static enum status apply_act(struct machine *m, const struct cli_list *args, void *request, struct err *e)
{
	struct request *r = request;

	r->options.output = r->json ? OUTPUT_JSON : OUTPUT_TEXT;
	return (r->dry_run ? apply_check : apply_profile)(m, args->items[0], &r->options, e);
}

enum status tune_apply(int argc, char **argv, struct err *e)
{
	struct request r = {0};
	enum status status;
	const struct cli_flag flags[] = {
	    COMMAND_REPLACE(&r.options.replace),
	    COMMAND_STRICT(&r.options.strict),
	    COMMAND_WITHOUT(&r.options.without),
	    {"dry-run", CLI_FLAG, &r.dry_run, NULL, "like 'kbtune plan', but refuse what apply would refuse", 0, 0},
	    COMMAND_SYSROOT(&r.sysroot),
	    COMMAND_JSON(&r.json),
	    COMMAND_FLAGS_END};

	status = command_run(&(struct command){&tune_apply_cli, flags, &r.sysroot, apply_act, &r}, argc, argv, e);
	cli_list_free(&r.options.without);
	return status;
}
