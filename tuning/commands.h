/* Subcommands. Each has its help and its function: an exit status, and `e` where it failed. */
#ifndef KBLAT_TUNING_COMMANDS_H
#define KBLAT_TUNING_COMMANDS_H

#include "common/cli.h"
#include "common/err.h"

struct journal;
struct machine;
struct plan;

typedef enum status command_fn(int argc, char **argv, struct err *e);

extern const struct cli_command cmd_status_cli, cmd_plan_cli, cmd_apply_cli, cmd_verify_cli, cmd_restore_cli,
    cmd_run_cli, cmd_profiles_cli, cmd_cpuset_cli, cmd_irq_cli, cmd_latency_cli, cmd_tuned_cli;
command_fn cmd_status, cmd_plan, cmd_apply, cmd_verify, cmd_restore, cmd_run, cmd_profiles, cmd_cpuset, cmd_irq,
    cmd_latency, cmd_tuned;

/* The status of an error that may have none yet. */
enum status failed(const struct err *e);

/*
 * Open the machine's journal for a change, and lock it. `j` is what is there, or a new one (of `profile`): a moot one,
 * of another boot, is removed, and said so. -EEXIST and `e` where one is unfinished. The lock is `*lock`, to be closed.
 */
int session_begin(struct machine *m, const char *profile, struct journal *j, int *lock, struct err *e);
void session_end(struct journal *j, int lock);

/* Load and plan; faults are printed. `replace` restores what is applied first. STATUS_OK and the journal locked, or not. */
enum status apply_profile(struct machine *m, const char *name, bool replace, bool strict, bool quiet, bool json,
			  struct err *e);

/* Restore everything that the journal has. */
enum status restore_all(struct machine *m, bool json, bool quiet, struct err *e);

/* Apply a plan of single steps on top of what is applied. */
enum status apply_single(struct machine *m, const struct plan *plan, bool dry_run, bool json, struct err *e);

#endif
