#include <stdio.h>

#include "commands/commands.h"
#include "commands/shared_options.h"
#include "common/err.h"
#include "study/kinds.h"
#include "study/knobs/knobs_types.h"
#include "study/study_run.h"

const struct cli_command cmd_knobs_cli = {
    .name = "knobs",
    .synopsis = "SPEC --profile PROFILE|--resume DIR [--budget TIME] [--blocks N] [--out DIR] [--set KEY=VALUE]… "
		"[--only KEY=VALUE]… [--quick] [--quantity Q]… [--margin PCT]… [--dry-run] [--json]",
    .summary = "which knobs of a kbtune profile help?",
    .details =
	"Measures SPEC with each knob of a profile alone, with each knob left out, with the whole profile and without "
	"any. One run of each, in random order, is a block. kbtune applies the settings before every run and restores "
	"the machine after it, whatever happens. Each knob alone is compared with the untuned machine, and the profile "
	"without it with the whole profile, using the statistics of kblat compare. The probability that any knob seems "
	"to have an effect when none has is at most 5 %.\n\nA knob that refers to shields is tested together with "
	"them, and left out with them. Knobs that need a reboot, or change nothing on this machine, are listed as not "
	"tested. Finally the knobs that are needed are compared with the whole profile, and written as a profile of "
	"their own: kbtune apply DIR/smallest/profile.yaml.\n\nA verdict needs 6 blocks. 12 are measured, or as many "
	"as fit into --budget. If the study was interrupted or did not fit into the budget, continue with kblat knobs "
	"--resume DIR. docs/knobs.md has the rules.\n\nExit status: 0 decided: a smaller profile suffices, all of it "
	"is needed, or nothing has an effect; 3 nothing helps and something makes it slower; 4 undecided; 1 a run "
	"failed, or it was interrupted; 2 bad input: a profile whose knobs cannot be separated, a budget too small for "
	"one block; 77 not possible on this machine.",
    .min_args = 0,
    .max_args = 1,
};

struct knobs_command {
	struct knobs_options own;
	struct study_request request;
	struct shared_options shared;
	struct verdict_options verdicts;
};

static enum status run_asked(const struct cli_list *args, void *command, struct err *e)
{
	struct knobs_command *k = command;
	struct shared_options *w = &k->shared;
	struct study_request *r = &k->request;

	if (verdict_options_read(&k->verdicts, r->json, e))
		return STATUS_USAGE;
	r->format = k->verdicts.format;
	if (shared_options_read(w, e))
		return STATUS_USAGE;
	r->path = args->count ? args->items[0] : NULL;
	if (r->path && !r->resume && shared_options_find(w, &r->path, &r->out, e))
		return STATUS_USAGE;
	r->source = w->source;
	r->sink = w->sink;
	r->profile_path = w->profile_path;
	r->mask = w->mask;
	r->overrides = w->overrides;
	r->budget_s = (double)w->budget_ns / 1e9;
	return study_run(&knobs_kind, r, e);
}

enum status cmd_knobs(int argc, char **argv, struct err *e)
{
	struct knobs_command k = {.own = {.seed = 1}, .request = {.argc = argc, .argv = argv, .own = &k.own}};
	struct knobs_options *o = &k.own;
	enum status status;
	const struct cli_flag flags[] = {
	    {"profile", CLI_STRING, &o->profile, "PROFILE", "the profile, by its name or (with a slash) its path", 0,
	     0},
	    {"blocks", CLI_INT, &o->blocks, "N", "number of blocks to measure (12, or as many as fit into --budget)", 6,
	     KNOBS_BLOCKS_MAX},
	    {"budget", CLI_STRING, &k.shared.budget, "TIME", "take at most about this time (30min)", 0, 0},
	    {"quick", CLI_FLAG, &k.shared.quick, NULL, "the spec's quick variant", 0, 0},
	    {"out", CLI_STRING, &k.request.out, "DIR", "create the directory in DIR", 0, 0},
	    SHARED_OPTIONS_FLAGS(k.shared),
	    {"resume", CLI_STRING, &k.request.resume, "DIR", "continue this directory, which must belong to you", 0, 0},
	    {"metric", CLI_STRING, &o->metric, "NAME", "such as rtt_ns (the default is each point's first)", 0, 0},
	    {"quantity", CLI_LIST, &o->quantities, "Q", "judge by this quantity (p50 and p99); may be repeated", 0, 0},
	    {"margin", CLI_LIST, &o->margins, "PCT",
	     "the largest change that does not matter, in percent (2); Q=PCT sets it for one quantity (p99=10); may be "
	     "repeated",
	     0, 0},
	    {"seed", CLI_INT, &o->seed, "N", "for the order within a block and for random relabellings (1)", 0,
	     1L << 52},
	    {"dry-run", CLI_FLAG, &k.request.dry_run, NULL,
	     "print the knobs and the expected duration, and do nothing else", 0, 0},
	    {"quiet", CLI_FLAG, &k.request.quiet, NULL, "while measuring, print only problems", 0, 0},
	    VERDICT_OPTIONS_FLAGS(k.verdicts),
	    {"json", CLI_FLAG, &k.request.json, NULL, "print JSON instead of a table", 0, 0},
	    {.name = NULL},
	};

	status = cli_run("kblat", &cmd_knobs_cli, flags, argc, argv, run_asked, &k, e);
	shared_options_free(&k.shared);
	cli_list_free(&o->quantities);
	cli_list_free(&o->margins);
	return verdict_options_exit(argc, argv, status);
}
