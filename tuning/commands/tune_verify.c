/* kbtune verify. */
#include <errno.h>
#include <stdio.h>

#include "tuning/apply/drift.h"
#include "tuning/apply/output.h"
#include "tuning/commands/command.h"
#include "tuning/commands/tune_commands.h"
#include "tuning/journal/transaction.h"
#include "tuning/machine/exclusion.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/state_folder.h"

const struct cli_command tune_verify_cli = {
    .name = "verify",
    .synopsis = "[--sysroot DIR] [--json]",
    .summary = "Compare the machine with what was applied. Shows what has drifted; the exit status is then 3.",
    .min_args = 0,
    .max_args = 0,
};

struct request {
	const char *sysroot;
	bool json;
};

static enum status load_applied(struct machine *m, struct journal *j, struct err *e)
{
	int rc = journal_find(m, j, e);

	if (!rc && j->other_boot) {
		journal_free(j);
		rc = -ENOENT;
	}
	if (rc == -ENOENT && exclusion_refuse_others(m, "verify", e))
		return err_status(e);
	if (rc == -ENOENT)
		err_set(e, rc, STATUS_NO, NULL, NULL, "no profile is applied, so there is nothing to verify");
	else if (!rc && j->state != JOURNAL_APPLIED)
		rc = err_set(e, -EINPROGRESS, STATUS_NO, *j->profile ? j->profile : "single commands", "verify",
			     "it is only partly applied (%s); undo it with 'kbtune restore'",
			     journal_state_name(j->state));
	if (rc && rc != -ENOENT && j->profile)
		journal_free(j);
	return rc ? err_status(e) : STATUS_OK;
}

static enum status verify_act(struct machine *m, const struct cli_list *args, void *request, struct err *e)
{
	const struct request *r = request;
	struct journal j = {0};
	struct drift d;
	enum status status = load_applied(m, &j, e);

	(void)args;
	if (status)
		return status;
	transaction_verify(m, &j, &d);
	if (r->json)
		output_json(drift_json(&j, &d), NULL, OUTPUT_JSON);
	else
		drift_print(&j, &d);
	status = d.drifted ? STATUS_NO : STATUS_OK;
	json_decref(d.list);
	journal_free(&j);
	return status;
}

enum status tune_verify(int argc, char **argv, struct err *e)
{
	struct request r = {0};
	const struct cli_flag flags[] = {COMMAND_SYSROOT(&r.sysroot), COMMAND_JSON(&r.json), COMMAND_FLAGS_END};

	return command_run(&(struct command){&tune_verify_cli, flags, &r.sysroot, verify_act, &r}, argc, argv, e);
}
