#include <errno.h>
#include <string.h>

#include "commands/commands.h"
#include "commands/shared_options.h"
#include "study/boots/boots.h"
#include "study/boots/boots_plan.h"
#include "study/kinds.h"
#include "study/study_run.h"

const struct cli_command cmd_boots_cli = {
    .name = "boots",
    .synopsis = "start SPEC --old KERNEL --new KERNEL --loader LOADER [--old-entry ENTRY] [--new-entry ENTRY] "
		"[--boots N] [--runs N] [--settle TIME] [--tries N] [--dry-run] [--out DIR] | start SPEC --kernel "
		"KERNEL… [--bisect] --loader LOADER … | start --resume DIR | "
		"status DIR [--json] | stop DIR",
    .summary = "is the new kernel slower? boots both in turn, on this machine or in a guest, unattended",
    .details =
	"`start` REBOOTS THIS MACHINE, again and again: into the old kernel, the new one, the new one, the "
	"old one, and so on. In each boot it waits until the machine has settled, and runs SPEC. It compares "
	"after half, three quarters and all of the boots, as kblat compare --planned does, and ends as soon "
	"as there is an answer: in DIR, as a page, and in the journal. --dry-run says how long it takes, and "
	"does nothing else.\n\nThe boot loader is asked for one boot at a time; the entry that is booted by "
	"default stays as it is. After each boot, the unit kblat-boots@DIR goes on. The machine may lose power "
	"at any time: a boot that was not measured to its end is repeated. A kernel that does not come up is "
	"reported, and tried again (--tries). At the end nothing is left in the boot loader, the unit is "
	"disabled, and the machine is rebooted into its default kernel.\n\nKERNEL is what `uname -r` prints; "
	"another one that is running is not measured. LOADER is grub (grub-reboot), bootctl (set-oneshot), "
	"kexec (/boot/vmlinuz-ENTRY), or the path of a program, which is called as `PROGRAM set ENTRY`, "
	"`clear`, `pending` (status 0: an entry is set, 1: none), `reboot`, `settled` (0: it has), and "
	"`enable`, `disable`, `stop`, each followed by UNIT DIR. ENTRY is what the boot loader calls the "
	"kernel: with grub an ID or a title, otherwise found in grub.cfg; with bootctl a file of "
	"loader/entries, likewise; else KERNEL.\n\nWith --loader guest nothing is rebooted: each boot is one of "
	"kblat-guest, a virtual machine with this machine's files, and KERNEL is the version of one of Debian's, the "
	"file of a package, or IMAGE:MODULES of any kernel. It waits for all boots; if it is ended, start --resume "
	"goes on. How busy other programs keep this machine is said if it matters. Latencies in the guest are not "
	"those of a device: confirm differences on a real machine.\n\nWith several --kernel, from old to new, all are "
	"booted "
	"one after the other, again and again, and kblat history --bundle compares each with the one before. With "
	"--bisect, too, it looks for the first one that is slower than the oldest: the newest is compared with the "
	"oldest, then the middle one, and so on; a wrong kernel is named in at most 5 % of cases.\n\n`status` says "
	"what has been done and what the rest will take; `stop` ends it and puts the machine back. "
	"docs/kernel-upgrade.md has examples.\n\nExit "
	"status: 0 not slower, or a boot was asked for, or a series; 3 slower; 4 undecided; 1 it failed or was "
	"interrupted; 2 wrong usage or bad input; 77 not possible on this machine.",
    .min_args = 1,
    .max_args = 2,
};

struct boots_shell {
	struct shared_options shared;
	struct boots_options own;
	struct study_request request;
	struct verdict_options verdicts;
};

static enum status start_boots(struct boots_shell *b, struct err *e)
{
	struct study_request *r = &b->request;

	if (shared_options_read(&b->shared, e) || verdict_options_read(&b->verdicts, r->json, e))
		return STATUS_USAGE;
	if (r->path && !r->resume && shared_options_find(&b->shared, &r->path, &r->out, e))
		return STATUS_USAGE;
	r->source = b->shared.source;
	r->sink = b->shared.sink;
	r->profile_path = b->shared.profile_path;
	r->mask = b->shared.mask;
	r->overrides = b->shared.overrides;
	r->format = b->verdicts.format;
	return study_run(&boots_kind, r, e);
}

/* The others have a directory, and take no options but --json. */
static enum status go_on_boots(struct boots_shell *b, struct err *e)
{
	b->own.after_boot = true;
	return boots_go(&b->request, e);
}

static enum status show_boots(struct boots_shell *b, struct err *e)
{
	return boots_status(&b->request, e);
}

static enum status stop_boots(struct boots_shell *b, struct err *e)
{
	return boots_stop(&b->request, e);
}

static const struct {
	const char *name;
	bool has_spec; /* its argument is one; otherwise a study's directory */
	enum status (*function)(struct boots_shell *b, struct err *e);
} boots_actions[] = {{"start", true, start_boots},
		     {"status", false, show_boots},
		     {"stop", false, stop_boots},
		     {"go", false, go_on_boots}};

static enum status boots_act(const struct cli_list *args, void *shell, struct err *e)
{
	struct boots_shell *b = shell;
	const char *at = args->count > 1 ? args->items[1] : NULL;

	for (size_t i = 0; i < sizeof(boots_actions) / sizeof(boots_actions[0]); i++) {
		if (strcmp(boots_actions[i].name, args->items[0]) != 0)
			continue;
		*(boots_actions[i].has_spec ? &b->request.path : &b->request.resume) = at;
		if (!at && !boots_actions[i].has_spec)
			return err_set(e, -EINVAL, STATUS_USAGE, "boots", NULL, "expects: kblat boots %s DIR",
				       args->items[0]),
			       err_status(e);
		return boots_actions[i].function(b, e);
	}
	return err_set(e, -EINVAL, STATUS_USAGE, "boots", NULL, "expects start, status or stop, not '%.48s'",
		       args->items[0]),
	       err_status(e);
}

static void boots_shell_free(struct boots_shell *b)
{
	shared_options_free(&b->shared);
	cli_list_free(&b->own.kernels);
	cli_list_free(&b->own.quantities);
	cli_list_free(&b->own.margins);
	cli_list_free(&b->own.judge);
}

/* clang-format off */
#define GUEST_FLAGS(o) \
	{"old-append", CLI_STRING, &o->pair[ARM_BASE][PAIR_APPEND], "WORDS", \
	 "guest: add WORDS to the old kernel's command line", 0, 0}, \
	{"new-append", CLI_STRING, &o->pair[ARM_WITH][PAIR_APPEND], "WORDS", "guest: the same for the new kernel", 0, 0}, \
	{"old-beside", CLI_STRING, &o->pair[ARM_BASE][PAIR_BESIDE], "CMD", \
	 "guest: a shell command to run during the measurement, in each boot of the old kernel", 0, 0}, \
	{"new-beside", CLI_STRING, &o->pair[ARM_WITH][PAIR_BESIDE], "CMD", "guest: the same for the new kernel", 0, 0}, \
	{"count-time", CLI_FLAG, &o->count_time, NULL, \
	 "guest: its time is the number of executed instructions, so medians are reproducible to 0.1 % however " \
	 "busy this machine is; additional code in the kernel shows, effects of caches or waiting do not; for endpoints that sleep " \
	 "(`poll: event`) " \
	 "on its single CPU", \
	 0, 0}, \
	{"cpus", CLI_STRING, &o->guest[GUEST_CPUS], "N", "guest: as for kblat-guest", 0, 0}, \
	{"nodes", CLI_STRING, &o->guest[GUEST_NODES], "N", "guest: likewise", 0, 0}, \
	{"memory", CLI_STRING, &o->guest[GUEST_MEMORY], "SIZE", "guest: likewise", 0, 0}, \
	{"timeout", CLI_STRING, &o->guest[GUEST_TIMEOUT], "SECONDS", "guest: likewise, of each boot", 0, 0}, \
	{"no-rdma", CLI_FLAG, &o->no_rdma, NULL, "guest: likewise", 0, 0}
/* clang-format on */

enum status cmd_boots(int argc, char **argv, struct err *e)
{
	struct boots_shell b = {.request = {.argc = argc, .argv = argv}};
	struct boots_options *o = &b.own;
	enum status status;
	const struct cli_flag flags[] = {
	    {"old", CLI_STRING, &o->pair[ARM_BASE][PAIR_KERNEL], "KERNEL", "the old kernel, as `uname -r` prints it", 0,
	     0},
	    {"new", CLI_STRING, &o->pair[ARM_WITH][PAIR_KERNEL], "KERNEL", "the new kernel", 0, 0},
	    {"old-entry", CLI_STRING, &o->pair[ARM_BASE][PAIR_ENTRY], "ENTRY",
	     "what the boot loader calls the old kernel", 0, 0},
	    {"new-entry", CLI_STRING, &o->pair[ARM_WITH][PAIR_ENTRY], "ENTRY",
	     "what the boot loader calls the new kernel", 0, 0},
	    {"kernel", CLI_LIST, &o->kernels, "KERNEL", "each of several, from old to new, instead of --old and --new",
	     0, 0},
	    {"bisect", CLI_FLAG, &o->bisect, NULL,
	     "which of them is the first that is slower? (by p50, unless --quantity names others)", 0, 0},
	    {"loader", CLI_STRING, &o->loader, "LOADER", LOADER_NAMES, 0, 0},
	    {"boots", CLI_INT, &o->boots, "N",
	     "maximum number of boots of each kernel (8; of a series 4); a verdict needs 4", 1, BOOTS_MOST_EACH},
	    {"runs", CLI_INT, &o->runs, "N", "runs of SPEC in each boot (3; of a series 1)", 1, BOOTS_MOST_EACH},
	    GUEST_FLAGS(o),
	    {"settle", CLI_STRING, &o->settle, "TIME",
	     "measure at the earliest so long after a boot (2min), and, at most ten minutes later, when systemd has "
	     "finished booting and the load is below 0.5 a CPU; 0s: at once",
	     0, 0},
	    {"tries", CLI_INT, &o->tries, "N", "end if a boot fails so many times in a row (3)", 1, BOOTS_TRIES_MOST},
	    {"metric", CLI_STRING, &o->metric, "NAME", "such as rtt_ns (the default is each point's first)", 0, 0},
	    {"quantity", CLI_LIST, &o->quantities, "Q", "as for kblat compare; may be repeated", 0, 0},
	    {"margin", CLI_LIST, &o->margins, "PCT", "as for kblat compare; may be repeated", 0, 0},
	    {"judge", CLI_LIST, &o->judge, "Q,…", "as for kblat compare; may be repeated", 0, 0},
	    {"quick", CLI_FLAG, &b.shared.quick, NULL, "the spec's quick variant", 0, 0},
	    {"out", CLI_STRING, &b.request.out, "DIR", "create the directory in DIR, which must outlive a boot", 0, 0},
	    SHARED_OPTIONS_FLAGS(b.shared),
	    {"resume", CLI_STRING, &b.request.resume, "DIR", "continue this directory, which must belong to you", 0, 0},
	    {"dry-run", CLI_FLAG, &b.request.dry_run, NULL, "say how long it takes, and do nothing else", 0, 0},
	    VERDICT_OPTIONS_FLAGS(b.verdicts),
	    {"json", CLI_FLAG, &b.request.json, NULL, "print JSON", 0, 0},
	    {.name = NULL},
	};

	b.request.own = o;
	status = cli_run("kblat", &cmd_boots_cli, flags, argc, argv, boots_act, &b, e);
	boots_shell_free(&b);
	return verdict_options_exit(argc, argv, status);
}
