#include <stdio.h>
#include <stdlib.h>

#include "commands/commands.h"
#include "commands/run_words.h"
#include "common/err.h"
#include "knobs/knobs_study.h"

const struct cli_command cmd_knobs_cli = {
    .name = "knobs",
    .synopsis = "SPEC --profile PROFILE|--resume DIR [--budget TIME] [--blocks N] [--out DIR] [--set KEY=VALUE]… "
		"[--only KEY=VALUE]… [--quick] [--quantity Q]… [--margin PCT]… [--dry-run] [--json]",
    .summary = "which knobs of a kbtune profile help?",
    .details =
	"Takes a profile apart and measures SPEC with each of its knobs alone, with each left out, with the whole and "
	"with nothing: a run of each in random order is a block, then the next block. kbtune applies and puts back "
	"around every run, whatever happens. Each knob alone is compared with nothing, the whole without it with the "
	"whole, by the statistics of kblat compare, all held against one limit: the chance that any knob is found "
	"where "
	"none does anything is at most 5 %.\n\n"
	"A knob that goes by the shields is tested upon them, and is left out with them. Knobs that take a reboot, or "
	"change nothing here, are listed as not tested. What is needed is measured against the whole once more, and is "
	"written as a profile: kbtune apply DIR/smallest/profile.yaml.\n\n"
	"A verdict takes 6 blocks; 12 are measured, or as many as --budget holds. What was interrupted, or did not fit "
	"into the budget, goes on with kblat knobs --resume DIR. docs/knobs.md has the rules.\n\n"
	"Exit status: 0 decided: a smaller profile suffices, all of it is needed, or nothing has an effect; 3 nothing "
	"helps and something makes it slower; 4 undecided; 1 a run failed, or it was interrupted; 2 bad input: a "
	"profile "
	"whose knobs cannot be separated, a budget too small for one block; 77 not possible on this machine.",
    .min_args = 0,
    .max_args = 1,
};

struct asked {
	struct cli_list args, set, only;
	const char *device, *budget;
	long reps;
};

static enum status run_asked(struct asked *asked, struct knobs_options *o, struct err *e)
{
	char reps[24], *kept[2] = {NULL, NULL}, *profiles = NULL;
	enum status status = STATUS_USAGE;
	int64_t budget_ns = 0;

	snprintf(reps, sizeof(reps), "%ld", asked->reps);
	run_words_shorthand(&asked->set, "device=%s", asked->device, &kept[0]);
	run_words_shorthand(&asked->set, "repetitions=%s", asked->reps ? reps : NULL, &kept[1]);
	o->overrides.set = asked->set.items;
	o->overrides.set_count = asked->set.count;
	o->overrides.only = asked->only.items;
	o->overrides.only_count = asked->only.count;
	o->spec = asked->args.count ? asked->args.items[0] : NULL;
	if (!run_words_budget(asked->budget, &budget_ns, e) &&
	    !run_words_profile_path(&o->profile_path, &profiles, e)) {
		o->budget_s = (double)budget_ns / 1e9;
		status = knobs_run(o, e);
	}
	free(profiles);
	free(kept[0]);
	free(kept[1]);
	return status;
}

enum status cmd_knobs(int argc, char **argv, struct err *e)
{
	struct knobs_options o = {.seed = 1, .argc = argc, .argv = argv};
	struct asked asked = {.device = NULL};
	const struct cli_flag flags[] = {
	    {"profile", CLI_STRING, &o.profile, "PROFILE", "the profile, by its name or (with a slash) its path", 0, 0},
	    {"blocks", CLI_INT, &o.blocks, "N", "measure so many blocks (12, or as many as --budget holds)", 6,
	     KNOBS_BLOCKS_MAX},
	    {"budget", CLI_STRING, &asked.budget, "TIME", "take at most about so much time (30min)", 0, 0},
	    {"quick", CLI_FLAG, &o.overrides.quick, NULL, "the spec's quick variant", 0, 0},
	    {"out", CLI_STRING, &o.out, "DIR", "make the directory inside DIR", 0, 0},
	    {"set", CLI_LIST, &asked.set, "KEY=VALUE", "change a setting in every point that has it", 0, 0},
	    {"only", CLI_LIST, &asked.only, "KEY=VALUE", "keep the points that match; the same key again: either", 0,
	     0},
	    {"source", CLI_STRING, &o.source, "CMD", "command prefix that starts the source endpoint", 0, 0},
	    {"sink", CLI_STRING, &o.sink, "CMD", "command prefix that starts the sink endpoint", 0, 0},
	    {"device", CLI_STRING, &asked.device, "DEV", "the RDMA device, as --set device=DEV", 0, 0},
	    {"reps", CLI_INT, &asked.reps, "N", "repetitions, as --set repetitions=N", 1, 100000},
	    {"resume", CLI_STRING, &o.resume, "DIR", "go on with a directory of one's own", 0, 0},
	    {"profile-path", CLI_STRING, &o.profile_path, "DIR", "look for profiles in DIR first", 0, 0},
	    {"metric", CLI_STRING, &o.metric, "NAME", "such as rtt_ns (the default is each point's first)", 0, 0},
	    {"quantity", CLI_LIST, &o.quantities, "Q", "judge by these (p50 and p99); may be repeated", 0, 0},
	    {"margin", CLI_LIST, &o.margins, "PCT",
	     "the change that no one would mind, in per cent (2); Q=PCT is that of one quantity (p99=10); may be "
	     "repeated",
	     0, 0},
	    {"seed", CLI_INT, &o.seed, "N", "of the order in a block, and of relabellings that are drawn (1)", 0,
	     1L << 52},
	    {"mask", CLI_FLAG, &o.mask, NULL, "hide serial numbers, hardware addresses, hosts' names in the kept state",
	     0, 0},
	    {"dry-run", CLI_FLAG, &o.dry_run, NULL, "print the knobs and how long it would take, and do nothing", 0, 0},
	    {"quiet", CLI_FLAG, &o.quiet, NULL, "say nothing while measuring but what goes wrong", 0, 0},
	    {"json", CLI_FLAG, &o.json, NULL, "print JSON instead of a table", 0, 0},
	    {.name = NULL},
	};
	enum status status = STATUS_USAGE;
	bool help;

	if (cli_parse(&cmd_knobs_cli, flags, argc, argv, &asked.args, &help, e) == 0) {
		if (help)
			cli_help("kblat", &cmd_knobs_cli, flags, stdout);
		status = help ? STATUS_OK : run_asked(&asked, &o, e);
	}
	cli_list_free(&asked.args);
	cli_list_free(&asked.set);
	cli_list_free(&asked.only);
	cli_list_free(&o.quantities);
	cli_list_free(&o.margins);
	return status;
}
