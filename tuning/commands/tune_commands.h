/* Subcommands. Each has its help and its function: an exit status, and `e` where it failed. */
#ifndef KBLAT_TUNING_COMMANDS_H
#define KBLAT_TUNING_COMMANDS_H

#include <jansson.h>

#include "common/cli.h"
#include "common/err.h"

struct drift;
struct journal;
struct machine;
struct plan;

typedef enum status command_fn(int argc, char **argv, struct err *e);

extern const struct cli_command tune_status_cli, tune_plan_cli, tune_apply_cli, tune_verify_cli, tune_restore_cli,
    tune_run_cli, tune_hold_cli, tune_profiles_cli, tune_cpuset_cli, tune_irq_cli, tune_latency_cli, tune_tuned_cli;
command_fn tune_status, tune_plan, tune_apply, tune_verify, tune_restore, tune_run, tune_hold, tune_profiles,
    tune_cpuset, tune_irq, tune_latency, tune_tuned;

/* The status of an error that may have none yet. */
enum status failed(const struct err *e);

/*
 * Open the machine's journal for a change, and lock it. `j` is what is there, or a new one (of `profile`): a moot one,
 * of another boot, is removed, and said so. -EEXIST and `e` where one is unfinished. The lock is `*lock`, to be closed.
 */
int session_begin(struct machine *m, const char *profile, struct journal *j, int *lock, struct err *e);
void session_end(struct journal *j, int lock);

/* What is printed of what was done. */
enum say {
	SAY_NOTHING,
	SAY_TEXT,
	SAY_JSON,
	SAY_LINE, /* JSON on one line with a "type", for programs that read along */
};

struct apply_options {
	bool replace; /* restore what is applied first */
	bool strict;  /* refuse where a setting is not possible here */
	enum say say;
};

/* Load, plan and apply; faults are printed. */
enum status apply_profile(struct machine *m, const char *name, const struct apply_options *o, struct err *e);

/* All checks of apply_profile, rights among them, and the plan printed; changes nothing. */
enum status check_profile(struct machine *m, const char *name, const struct apply_options *o, struct err *e);

/* Restore everything that the journal has. */
enum status restore_all(struct machine *m, enum say say, struct err *e);

/* Print a document as `say` wants it, with "type" first for SAY_LINE. Takes `all` over. */
void say_json(json_t *all, const char *type, enum say say);

/* What `verify` says of a comparison. */
json_t *verified_json(const struct journal *j, const struct drift *d);
void print_drift(const struct journal *j, const struct drift *d);

/* Apply a plan of single steps on top of what is applied. */
enum status apply_single(struct machine *m, const struct plan *plan, bool dry_run, bool json, struct err *e);

#endif
