/*
 * The state of another host, as an endpoint there captures it and sends it, file by file.
 */
#ifndef KBLAT_RUN_HOST_STATE_H
#define KBLAT_RUN_HOST_STATE_H

#include <stdbool.h>

#include "run/channel.h"

/* Stores it in state/<host>/<when> of the run directory, as the same files as for this machine (machine_state.h). What
 * is sent is not trusted: names must stay below that folder, and sizes and numbers are limited. 0 or a negative errno,
 * with which a run goes on without the state. */
int host_state_take(struct channel *c, const char *run_path, const char *host, const char *when, bool mask,
		    struct err *e);

#endif
