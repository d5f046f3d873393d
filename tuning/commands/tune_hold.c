/*
 * kbtune hold PROFILE: keeps a profile applied as long as standard input stays open. It is for
 * programs that need a tuned machine for a while, and that may crash. It prints to standard output,
 * with --json as one JSON document per line, "applied", and at the end "verified" (like kbtune
 * verify) and "restored".
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "tuning/apply/apply.h"
#include "tuning/apply/drift.h"
#include "tuning/apply/guardian.h"
#include "tuning/apply/restore.h"
#include "tuning/commands/command.h"
#include "tuning/commands/tune_commands.h"
#include "tuning/journal/journal.h"
#include "tuning/journal/transaction.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/signals.h"
#include "tuning/machine/state_folder.h"

const struct cli_command tune_hold_cli = {
    .name = "hold",
    .synopsis = "PROFILE [--replace] [--strict] [--without KNOB]... [--dry-run] [--sysroot DIR] [--json]",
    .summary = "Apply a profile until standard input is closed, then restore everything.",
    .details = "For use by programs: when the process at the other end of the pipe exits or is killed, everything is "
	       "restored; likewise after a signal, and when kbtune itself is killed. With --json each line is a "
	       "document with a \"type\": applied, verified (what drifted meanwhile), restored.",
    .min_args = 1,
    .max_args = 1,
};

/* Wait until the end of standard input, or one of the blocked signals. */
static int wait_for_end(struct err *e)
{
	sigset_t signals;
	char text[256];
	int fd;

	signals_ending(&signals);
	fd = signalfd(-1, &signals, SFD_CLOEXEC);
	if (fd < 0)
		return err_sys(e, -errno, NULL, "wait for signals");
	for (;;) {
		struct pollfd fds[] = {{STDIN_FILENO, POLLIN, 0}, {fd, POLLIN, 0}};

		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[1].revents || (fds[0].revents && read(STDIN_FILENO, text, sizeof(text)) <= 0))
			break;
	}
	close(fd);
	return 0;
}

/* Another process has restored the profile, and perhaps applied another one. */
static void make_lost(struct machine *m, const char *name, struct journal *j, struct drift *d)
{
	char path[5200], now[256];

	snprintf(now, sizeof(now), "%s",
		 !j->profile   ? "nothing applied"
		 : *j->profile ? j->profile
			       : "single commands");
	*d = (struct drift){.drifted = 1,
			    .list = json_pack("[{s:s, s:s, s:s, s:s, s:s}]", "knob", "profile", "path",
					      state_folder_path(m, path, sizeof(path)), "want", name, "now", now,
					      "state", "drift")};
	journal_free(j);
	journal_init(j, m, name);
}

/* Print what has changed while the profile was held. */
static void print_verified(struct machine *m, const char *name, const char *owner, enum output output)
{
	struct journal j = {0};
	struct drift d;

	if (!journal_load(m, &j, NULL) && journal_is_owned(&j, owner))
		transaction_verify(m, &j, &d);
	else
		make_lost(m, name, &j, &d);
	if (output == OUTPUT_LINE)
		output_json(drift_json(&j, &d), "verified", output);
	else if (d.drifted)
		drift_print(&j, &d);
	json_decref(d.list);
	journal_free(&j);
}

struct request {
	const char *sysroot, *name;
	struct apply_options options;
	bool json, dry_run;
};

static enum status apply_and_hold(struct machine *m, const char *owner, void *request, struct err *e)
{
	struct request *r = request;
	enum status status, restored;
	struct err undo = ERR_INIT;

	r->options.owner = owner;
	status = apply_profile(m, r->name, &r->options, e);
	if (status)
		return status;
	fflush(stdout);
	if (wait_for_end(e))
		status = err_status(e);
	print_verified(m, r->name, owner, r->options.output);
	restored = restore_patiently(m, owner, r->options.output, &undo);
	if (restored && !e->status)
		*e = undo;
	return status ? status : restored;
}

static enum status hold_act(struct machine *m, const struct cli_list *args, void *request, struct err *e)
{
	struct request *r = request;

	r->options.output = r->json ? OUTPUT_LINE : OUTPUT_TEXT;
	r->name = args->items[0];
	return r->dry_run ? apply_check(m, r->name, &r->options, e)
			  : guardian_run(m, r->sysroot, r->options.strict, apply_and_hold, r, e);
}

enum status tune_hold(int argc, char **argv, struct err *e)
{
	struct request r = {0};
	enum status status;
	const struct cli_flag flags[] = {
	    COMMAND_REPLACE(&r.options.replace),
	    COMMAND_STRICT(&r.options.strict),
	    COMMAND_WITHOUT(&r.options.without),
	    {"dry-run", CLI_FLAG, &r.dry_run, NULL, "like 'kbtune plan', but refuse what apply would refuse", 0, 0},
	    COMMAND_SYSROOT(&r.sysroot),
	    {"json", CLI_FLAG, &r.json, NULL, "as JSON, one document per line", 0, 0},
	    COMMAND_FLAGS_END};

	status = command_run(&(struct command){&tune_hold_cli, flags, &r.sysroot, hold_act, &r}, argc, argv, e);
	cli_list_free(&r.options.without);
	return status;
}
