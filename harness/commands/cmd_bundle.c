#include <errno.h>

#include "commands/commands.h"
#include "study/bundle/bundle_pack.h"
#include "study/bundle/reproduce.h"

const struct cli_command cmd_bundle_cli = {
    .name = "bundle",
    .synopsis = "STUDY|RUN… --out FILE.tar.gz [--without-columns] [--without-states] [--mask] [--sign KEY] [--replace]",
    .summary = "put runs, or a study, into one file that others can check",
    .details =
	"The file has the run directories, the states of the machines, the claims of all runs judged together, the "
	"pages "
	"that there are, the versions of the programs, the commands, and ARTIFACT.md, the appendix that conferences "
	"ask "
	"for. The same runs give the same bytes. `kblat reproduce FILE` checks it (docs/reproduce.md).\n\n"
	"--without-columns leaves out the raw time stamps: the file becomes small, but the numbers cannot be computed "
	"again. --without-states leaves out the files of the machines' states, and keeps what was read from them. "
	"--mask hides what `kblat state capture --mask` hides, and the names of all hosts and users that the runs "
	"know of, IP addresses and users' folders; it leaves out the pages. --sign signs with an SSH key, by "
	"ssh-keygen.\n\n"
	"Exit status: 0 made; 2 a path is no run or study, or a run is not sealed or was changed; 1 it cannot be "
	"written.",
    .min_args = 1,
    .max_args = 64,
};

const struct cli_command cmd_reproduce_cli = {
    .name = "reproduce",
    .synopsis = "FILE.tar.gz [--signers FILE] [--require-signature] [--state] [--out DIR [--run]] [--json]",
    .summary = "check a bundle: is it whole, do its numbers and verdicts follow from its data, and do they hold here",
    .details =
	"Checks every byte, computes the numbers of all summaries again from the raw time stamps, counters and "
	"settings, "
	"judges all claims again, and says which verdicts differ. It names what it cannot check, such as the time "
	"stamps themselves, and makes pages and tables again instead of believing them. Nothing of the bundle is "
	"executed; neither root nor a network is needed.\n\n--signers "
	"is a list of people and their keys, as ssh-keygen(1) describes it under ALLOWED SIGNERS. --state shows in "
	"what this machine differs from the one measured. --run measures the same experiments here: those which this "
	"kblat has under their names ($KBLAT_EXPERIMENTS, or those that came with it), not the bundle's, and not those "
	"in "
	"./experiments; run directories are made below DIR/here. --out keeps the "
	"unpacked bundle "
	"in a new folder, with a page.\n\nExit status: 0 all that was checked is as the bundle says; 3 a number, a "
	"verdict or a text is "
	"not, or the signature that --require-signature asks for is missing or not of a trusted signer; 2 it is not "
	"whole, or not a bundle.",
    .min_args = 1,
    .max_args = 1,
};

static enum status pack(const struct cli_list *args, void *request, struct err *e)
{
	struct bundle_request *r = request;

	r->paths = args->items;
	r->count = args->count;
	if (!r->out)
		err_set(e, -EINVAL, STATUS_USAGE, "--out", NULL, "it is missing: name the bundle's file");
	else
		bundle_pack(r, e);
	return e->status;
}

enum status cmd_bundle(int argc, char **argv, struct err *e)
{
	struct bundle_request r = {.out = NULL};
	const struct cli_flag flags[] = {
	    {"out", CLI_STRING, &r.out, "FILE", "the bundle; its name ends in .tar.gz", 0, 0},
	    {"without-columns", CLI_FLAG, &r.without_columns, NULL, "leave out the raw time stamps", 0, 0},
	    {"without-states", CLI_FLAG, &r.without_states, NULL, "leave out the files of the machines' states", 0, 0},
	    {"mask", CLI_FLAG, &r.mask, NULL, "hide addresses, serial numbers, names of hosts and users", 0, 0},
	    {"sign", CLI_STRING, &r.key, "KEY", "sign with this SSH key", 0, 0},
	    {"replace", CLI_FLAG, &r.replace, NULL, "replace FILE if it exists", 0, 0},
	    {.name = NULL},
	};

	return cli_run("kblat", &cmd_bundle_cli, flags, argc, argv, pack, &r, e);
}

static enum status reproduce(const struct cli_list *args, void *request, struct err *e)
{
	struct reproduce_request *r = request;

	r->bundle = args->items[0];
	if (!r->run || r->out) {
		const enum status status = reproduce_bundle(r, e);

		return e->status ? e->status : status;
	}
	err_set(e, -EINVAL, STATUS_USAGE, "--run", NULL, "say with --out where the runs are kept");
	return e->status;
}

enum status cmd_reproduce(int argc, char **argv, struct err *e)
{
	struct reproduce_request r = {.bundle = NULL};
	const struct cli_flag flags[] = {
	    {"signers", CLI_STRING, &r.signers, "FILE", "whose signatures are trusted", 0, 0},
	    {"require-signature", CLI_FLAG, &r.require_signature, NULL, "status 3 without one that is trusted", 0, 0},
	    {"state", CLI_FLAG, &r.state, NULL, "show in what this machine differs", 0, 0},
	    {"run", CLI_FLAG, &r.run, NULL, "measure the same experiments here", 0, 0},
	    {"out", CLI_STRING, &r.out, "DIR", "keep the unpacked bundle in this new folder, with a page", 0, 0},
	    {"json", CLI_FLAG, &r.json, NULL, "print JSON", 0, 0},
	    {.name = NULL},
	};

	return cli_run("kblat", &cmd_reproduce_cli, flags, argc, argv, reproduce, &r, e);
}
