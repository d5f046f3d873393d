/*
 * Subcommands of kbtune; the help and the function of each are in the file of the same name.
 */
#ifndef KBLAT_TUNING_TUNE_COMMANDS_H
#define KBLAT_TUNING_TUNE_COMMANDS_H

#include "common/cli.h"
#include "common/err.h"

typedef enum status command_fn(int argc, char **argv, struct err *e);

extern const struct cli_command tune_status_cli, tune_plan_cli, tune_apply_cli, tune_verify_cli, tune_restore_cli,
    tune_run_cli, tune_hold_cli, tune_profiles_cli, tune_cpuset_cli, tune_irq_cli, tune_card_cli, tune_latency_cli,
    tune_tuned_cli;
command_fn tune_status, tune_plan, tune_apply, tune_verify, tune_restore, tune_run, tune_hold, tune_profiles,
    tune_cpuset, tune_irq, tune_card, tune_latency, tune_tuned;

#endif
