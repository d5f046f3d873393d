#include "commands/commands.h"
#include "commands/kblat_libraries.h"
#include "common/program.h"

static const struct program_command commands[] = {
    {&cmd_run_cli, cmd_run, false},
    {&cmd_list_cli, cmd_list, false},
    {&cmd_verify_cli, cmd_verify, false},
    {&cmd_summary_cli, cmd_summary, false},
    {&cmd_explain_cli, cmd_explain, false},
    {&cmd_report_cli, cmd_report, false},
    {&cmd_claims_cli, cmd_claims, false},
    {&cmd_compare_cli, cmd_compare, false},
    {&cmd_history_cli, cmd_history, false},
    {&cmd_index_cli, cmd_index, false},
    {&cmd_knobs_cli, cmd_knobs, false},
    {&cmd_export_cli, cmd_export, false},
    {&cmd_state_cli, cmd_state, false},
    {&cmd_doctor_cli, cmd_doctor, false},
    {&cmd_noise_cli, cmd_noise, false},
    {&cmd_endpoint_cli, cmd_endpoint, true},
    {.cli = NULL},
};

static const struct program_status statuses[] = {
    {STATUS_OK, "success"},
    {STATUS_FAILED, "failure"},
    {STATUS_USAGE, "wrong usage or bad input"},
    {STATUS_NO, "the answer is no (not valid, slower, fails, drift)"},
    {STATUS_UNDECIDED, "undecided"},
    {STATUS_IMPOSSIBLE, "not possible on this machine"},
    {.meaning = NULL},
};

int main(int argc, char **argv)
{
	const struct program kblat = {
	    .name = "kblat",
	    .about = "A kernel-bypass latency laboratory: measures message latencies over InfiniBand verbs, shared "
		     "memory,\nsockets and message libraries, keeps raw time stamps and the state of the machine, and "
		     "says when a\nnumber is not valid.\n",
	    .statuses = statuses,
	    .commands = commands,
	    .libraries = kblat_libraries,
	};

	return program_main(&kblat, argc, argv);
}
