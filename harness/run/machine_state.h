/*
 * The state of the machine before and after a run, and what changed, into its directory.
 */
#ifndef KBLAT_RUN_MACHINE_STATE_H
#define KBLAT_RUN_MACHINE_STATE_H

#include <jansson.h>
#include <stdbool.h>

struct err;

/* The recorded machine whose state is kept instead of this one's, or NULL. It is set by KBLAT_SYSROOT, with which tests
 * avoid reading thousands of files. run.json contains it as "sysroot". */
const char *machine_state_sysroot(void);

/* `when`: "before", "after"; `mask`: hides what identifies a machine (state/mask.h). 0 or a negative errno, with which
 * a run goes on without the state. */
int machine_state_keep(const char *run_path, const char *host, const char *when, bool mask, struct err *e);

/* changes.json; `environments`: what was applied meanwhile (borrowed). */
int machine_state_keep_changes(const char *run_path, const char *host, json_t *environments, struct err *e);

#endif
