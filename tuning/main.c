#include "common/program.h"
#include "tuning/commands.h"

#ifndef KBLAT_VERSION
#define KBLAT_VERSION "0.1.0"
#endif
#ifndef KBLAT_COMMIT
#define KBLAT_COMMIT "unknown"
#endif

static const struct program_command commands[] = {
    {&cmd_status_cli, cmd_status, false},
    {&cmd_plan_cli, cmd_plan, false},
    {&cmd_apply_cli, cmd_apply, false},
    {&cmd_verify_cli, cmd_verify, false},
    {&cmd_restore_cli, cmd_restore, false},
    {&cmd_run_cli, cmd_run, false},
    {&cmd_hold_cli, cmd_hold, false},
    {&cmd_cpuset_cli, cmd_cpuset, false},
    {&cmd_irq_cli, cmd_irq, false},
    {&cmd_latency_cli, cmd_latency, false},
    {&cmd_tuned_cli, cmd_tuned, false},
    {&cmd_profiles_cli, cmd_profiles, false},
    {.cli = NULL},
};

static const struct program kbtune = {
    .name = "kbtune",
    .version = KBLAT_VERSION,
    .commit = KBLAT_COMMIT,
    .about = "Quiets a machine, proves that it is quiet, and puts it back: cpusets, interrupts, PM QoS, tuned and\n"
	     "what belongs to them, as one transaction that can be planned, verified and undone.\n",
    .statuses = "Exit status: 0 it is so, 1 it failed, 2 wrong usage or bad input, 3 the answer is no (drift),\n"
		"77 not possible on this machine.\n",
    .commands = commands,
};

int main(int argc, char **argv)
{
	return program_main(&kbtune, argc, argv);
}
