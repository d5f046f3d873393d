/*
 * The state of another host, as an endpoint there captures it and sends it, file by file.
 */
#ifndef KBLAT_RUN_HOST_STATE_H
#define KBLAT_RUN_HOST_STATE_H

#include <stdbool.h>

#include "run/channel.h"

/* Into state/<host>/<when> of the run directory: the same files as of this machine (machine_state.h). Nothing in what is sent is trusted: names
 * stay below that folder, sizes and numbers are bounded. 0 or a negative errno; a run goes on without. */
int host_state_take(struct channel *c, const char *run_path, const char *host, const char *when, bool mask,
		    struct err *e);

#endif
