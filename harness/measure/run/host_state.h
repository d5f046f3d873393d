/*
 * The state of a host before and after a run, and what changed, into the run's directory: of this
 * machine, or of another one, where an endpoint captures it and sends it, file by file.
 */
#ifndef KBLAT_RUN_HOST_STATE_H
#define KBLAT_RUN_HOST_STATE_H

#include <jansson.h>
#include <stdbool.h>

#include "measure/run/channel.h"

struct err;

/* Stores it in state/<host>/<when> of the run directory, as the same files as for this machine (machine_state_keep()). What
 * is sent is not trusted: names must stay below that folder, and sizes and numbers are limited. 0 or a negative errno,
 * with which a run goes on without the state. */
int host_state_take(struct channel *c, const char *run_path, const char *host, const char *when, bool mask,
		    struct err *e);

/* The recorded machine whose state is kept instead of this one's, or NULL. It is set by KBLAT_SYSROOT, with which tests
 * avoid reading thousands of files. run.json contains it as "sysroot". */
const char *machine_state_sysroot(void);

#define MACHINE_NAME_MAX 256
#define MACHINE_BOOT_MAX 64

/* This machine's name, of MACHINE_NAME_MAX bytes ("localhost" if it has none), and its boot ID, of MACHINE_BOOT_MAX, which
 * stays as it is if it cannot be read. */
void machine_identify(char *name, char *boot);

/* Replaces what a name must not have to become that of a folder. */
void machine_name_folder(char *name);

/* `when`: "before", "after"; `mask`: hides what identifies a machine (files/state/mask.h). 0 or a negative errno, with which
 * a run goes on without the state. */
int machine_state_keep(const char *run_path, const char *host, const char *when, bool mask, struct err *e);

/* changes.json; `environments`: what was applied meanwhile (borrowed). */
int machine_state_keep_changes(const char *run_path, const char *host, json_t *environments, struct err *e);

#endif
