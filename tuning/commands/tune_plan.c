/* kbtune plan. */
#include <stdio.h>

#include "tuning/apply/output.h"
#include "tuning/commands/command.h"
#include "tuning/commands/tune_commands.h"
#include "tuning/knobs/knob_settings.h"
#include "tuning/knobs/knobs.h"

const struct cli_command tune_plan_cli = {
    .name = "plan",
    .synopsis = "PROFILE [--strict] [--without KNOB]... [--sysroot DIR] [--json]",
    .summary = "Show every change that a profile would make on this machine, with the old and the new value; what is "
	       "not possible here and why; what cannot be undone; what needs a reboot; and what this process may not "
	       "change. Changes nothing.",
    .details = "PROFILE is the name of a profile (see kbtune profiles) or, if it contains a slash, its path.",
    .min_args = 1,
    .max_args = 1,
};

struct request {
	const char *sysroot;
	bool json, strict;
	struct cli_list without;
};

static enum status print_profile(struct machine *m, const struct cli_list *args, void *request, struct err *e)
{
	const struct request *r = request;
	struct profile profile;
	struct plan p = {0};
	json_t *refusals = NULL, *all;
	int rc = knobs_load(m, args->items[0], &r->without, &profile, e);

	if (!rc)
		rc = knobs_plan(m, &profile, &p, e);
	profile_print_faults(&profile, stderr);
	if (!rc)
		refusals = plan_refusals(&p, m, NULL);
	if (!rc && r->json) {
		all = knob_settings_plan(&p, &profile);
		json_object_set(all, "not_allowed", refusals);
		output_json(all, NULL, OUTPUT_JSON);
	} else if (!rc) {
		plan_print(&p, stdout);
		plan_print_refusals(refusals, stdout);
	}
	json_decref(refusals);
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
	enum status status;
	const struct cli_flag flags[] = {COMMAND_STRICT(&r.strict), COMMAND_WITHOUT(&r.without),
					 COMMAND_SYSROOT(&r.sysroot), COMMAND_JSON(&r.json), COMMAND_FLAGS_END};

	status = command_run(&(struct command){&tune_plan_cli, flags, &r.sysroot, print_profile, &r}, argc, argv, e);
	cli_list_free(&r.without);
	return status;
}
