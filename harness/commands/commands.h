/*
 * The subcommands of kblat, one file each (cmd_<name>.c). Each receives argv from its own name on,
 * prints results to stdout and returns an exit status; failures fill in `e`, which main() prints.
 */
#ifndef KBLAT_COMMANDS_COMMANDS_H
#define KBLAT_COMMANDS_COMMANDS_H

#include "common/cli.h"
#include "common/err.h"

extern const struct cli_command cmd_run_cli, cmd_list_cli, cmd_verify_cli, cmd_summary_cli, cmd_report_cli,
    cmd_claims_cli, cmd_compare_cli, cmd_history_cli, cmd_knobs_cli, cmd_export_cli, cmd_doctor_cli, cmd_state_cli,
    cmd_endpoint_cli, cmd_explain_cli, cmd_noise_cli, cmd_index_cli, cmd_import_cli, cmd_bundle_cli, cmd_reproduce_cli,
    cmd_trace_cli, cmd_boots_cli;
enum status cmd_run(int argc, char **argv, struct err *e);
enum status cmd_list(int argc, char **argv, struct err *e);
enum status cmd_verify(int argc, char **argv, struct err *e);
enum status cmd_summary(int argc, char **argv, struct err *e);
enum status cmd_report(int argc, char **argv, struct err *e);
enum status cmd_claims(int argc, char **argv, struct err *e);
enum status cmd_compare(int argc, char **argv, struct err *e);
enum status cmd_history(int argc, char **argv, struct err *e);
enum status cmd_knobs(int argc, char **argv, struct err *e);
enum status cmd_boots(int argc, char **argv, struct err *e);
enum status cmd_export(int argc, char **argv, struct err *e);
enum status cmd_import(int argc, char **argv, struct err *e);
enum status cmd_doctor(int argc, char **argv, struct err *e);
enum status cmd_state(int argc, char **argv, struct err *e);
enum status cmd_explain(int argc, char **argv, struct err *e);
enum status cmd_trace(int argc, char **argv, struct err *e);
enum status cmd_noise(int argc, char **argv, struct err *e);
enum status cmd_index(int argc, char **argv, struct err *e);
enum status cmd_bundle(int argc, char **argv, struct err *e);
enum status cmd_reproduce(int argc, char **argv, struct err *e);
enum status cmd_endpoint(int argc, char **argv, struct err *e);

#endif
