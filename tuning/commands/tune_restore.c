/* kbtune restore. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "tuning/apply/restore.h"
#include "tuning/commands/command.h"
#include "tuning/commands/tune_commands.h"
#include "tuning/journal/journal.h"
#include "tuning/machine/exclusion.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/state_folder.h"

const struct cli_command tune_restore_cli = {
    .name = "restore",
    .synopsis = "[--give-up CPU|OBJECT]... [--sysroot DIR] [--dry-run] [--json]",
    .summary = "Undo everything in the journal, the last change first. This works in any process, after an apply and "
	       "also after a crash in the middle of one. If there is nothing to restore, it does nothing.",
    .details =
	"What belongs to a CPU that has gone offline waits for it. With --give-up, what cannot be restored without "
	"that CPU (a number, or a list such as 1,4-5) stays as it is, as does an object (as --dry-run names it) that "
	"cannot be restored at all; everything else is restored, and other profiles can be applied. What was given "
	"up is listed by 'kbtune restore' and 'kbtune status' until the next reboot. Threads get back a CPU that is "
	"online again when 'kbtune restore' is called once more.",
    .min_args = 0,
    .max_args = 0,
};

struct request {
	const char *sysroot;
	bool json, dry_run;
	struct cli_list give_up;
};

static enum status print_undo(struct machine *m, struct err *e)
{
	struct journal j = {0};
	int rc = journal_find(m, &j, e);

	if (rc == -ENOENT) {
		printf("nothing to restore\n");
		return STATUS_OK;
	}
	if (rc)
		return err_status(e);
	if (j.other_boot)
		printf("the journal is of an earlier boot: nothing to restore\n");
	for (size_t i = j.count; !j.other_boot && i-- > 0;)
		if (step_is_change(&j.steps[i]))
			printf("  %-16s %s: %s -> %s\n", j.steps[i].knob, text_shown(j.steps[i].path),
			       text_shown(j.steps[i].after), text_shown(j.steps[i].before));
	journal_free(&j);
	return STATUS_OK;
}

/* Nothing that this user could restore is there. */
static bool journal_is_missing(struct machine *m)
{
	struct journal j = {0};
	struct err e = ERR_INIT;
	const bool missing = journal_find(m, &j, &e) == -ENOENT;

	journal_free(&j);
	return missing;
}

static enum status restore_act(struct machine *m, const struct cli_list *args, void *request, struct err *e)
{
	const struct request *r = request;

	(void)args;
	if (journal_is_missing(m) && exclusion_refuse_others(m, "restore", e))
		return err_status(e);
	return r->dry_run ? print_undo(m, e) : restore_without(m, &r->give_up, r->json ? OUTPUT_JSON : OUTPUT_TEXT, e);
}

enum status tune_restore(int argc, char **argv, struct err *e)
{
	struct request r = {0};
	const struct cli_flag flags[] = {{"give-up", CLI_LIST, &r.give_up, "CPU|OBJECT",
					  "restore the rest without it, and record that; may be repeated", 0, 0},
					 COMMAND_SYSROOT(&r.sysroot),
					 {"dry-run", CLI_FLAG, &r.dry_run, NULL, "show what would be restored", 0, 0},
					 COMMAND_JSON(&r.json),
					 COMMAND_FLAGS_END};

	enum status status =
	    command_run(&(struct command){&tune_restore_cli, flags, &r.sysroot, restore_act, &r}, argc, argv, e);

	cli_list_free(&r.give_up);
	return status;
}
