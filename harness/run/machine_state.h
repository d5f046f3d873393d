/*
 * The state of the machine before and after a run, and what changed, into its directory.
 */
#ifndef KBLAT_RUN_MACHINE_STATE_H
#define KBLAT_RUN_MACHINE_STATE_H

#include <jansson.h>
#include <stdbool.h>

struct err;

/* The recorded machine whose state is kept instead of this one's, or NULL: KBLAT_SYSROOT, with which tests spare the reading of thousands
 * of files. run.json has it as "sysroot". */
const char *machine_state_sysroot(void);

/* `when`: "before", "after"; `mask`: without what tells one machine from another (state/mask.h). 0 or a negative errno; a run goes on without. */
int machine_state_keep(const char *run_path, const char *host, const char *when, bool mask, struct err *e);

/* changes.json; `environments`: what was applied meanwhile (borrowed). */
int machine_state_keep_changes(const char *run_path, const char *host, json_t *environments, struct err *e);

#endif
