/* kbtune plan. */
#include <stdio.h>

#include "tuning/apply/output.h"
#include "tuning/commands/command.h"
#include "tuning/commands/tune_commands.h"
#include "tuning/knobs/knob_settings.h"
#include "tuning/knobs/knobs.h"

const struct cli_command tune_plan_cli = {
    .name = "plan",
    .synopsis = "PROFILE [--strict] [--sysroot DIR] [--json]",
    .summary = "Show every change that a profile would make on this machine, with the old and the new value; what is "
	       "not possible here and why; what cannot be undone; and what needs a reboot. Changes nothing.",
    .details = "PROFILE is the name of a profile (see kbtune profiles) or, if it contains a slash, its path.",
    .min_args = 1,
    .max_args = 1,
};

struct request {
	const char *sysroot;
	bool json, strict;
};

static enum status print_profile(struct machine *m, const struct cli_list *args, void *request, struct err *e)
{
	const struct request *r = request;
	struct profile profile;
	struct plan p = {0};
	int rc = profile_load(args->items[0], knobs_keys(), &profile, e);

	if (!rc)
		rc = knobs_plan(m, &profile, &p, e);
	profile_print_faults(&profile, stderr);
	if (!rc && r->json)
		output_json(knob_settings_plan(&p, &profile), NULL, OUTPUT_JSON);
	else if (!rc)
		plan_print(&p, stdout);
	if (!rc && r->strict)
		rc = plan_check_strict(&p, NULL, e);
	plan_free(&p);
	rc = profile_has_faults(&profile) ? STATUS_USAGE : rc ? (int)err_status(e) : STATUS_OK;
	profile_free(&profile);
	return (enum status)rc;
}

enum status tune_plan(int argc, char **argv, struct err *e)
{
	struct request r = {0};
	const struct cli_flag flags[] = {COMMAND_STRICT(&r.strict), COMMAND_SYSROOT(&r.sysroot), COMMAND_JSON(&r.json),
					 COMMAND_FLAGS_END};

	return command_run(&(struct command){&tune_plan_cli, flags, &r.sysroot, print_profile, &r}, argc, argv, e);
}
