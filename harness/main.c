#include "commands/commands.h"
#include "common/program.h"
#include "common/version.h"

static const struct program_command commands[] = {
    {&cmd_run_cli, cmd_run, false},	     {&cmd_list_cli, cmd_list, false},
    {&cmd_verify_cli, cmd_verify, false},    {&cmd_summary_cli, cmd_summary, false},
    {&cmd_report_cli, cmd_report, false},    {&cmd_claims_cli, cmd_claims, false},
    {&cmd_compare_cli, cmd_compare, false},  {&cmd_history_cli, cmd_history, false},
    {&cmd_knobs_cli, cmd_knobs, false},	     {&cmd_export_cli, cmd_export, false},
    {&cmd_state_cli, cmd_state, false},	     {&cmd_doctor_cli, cmd_doctor, false},
    {&cmd_endpoint_cli, cmd_endpoint, true}, {.cli = NULL},
};

int main(int argc, char **argv)
{
	const struct program kblat = {
	    .name = "kblat",
	    .version = kblat_version,
	    .commit = kblat_commit,
	    .about = "A kernel-bypass latency laboratory: runs latency kernels over InfiniBand verbs and over what\n"
		     "people use instead, keeps raw time stamps next to the state of the machine, and says when a\n"
		     "number is not valid.\n",
	    .statuses = "Exit status: 0 it is so, 1 it failed, 2 wrong usage or bad input, 3 the answer is no,\n"
			"4 undecided, 77 not possible on this machine.\n",
	    .commands = commands,
	};

	return program_main(&kblat, argc, argv);
}
