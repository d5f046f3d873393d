/*
 * A run, as needed to judge claims: the content of its files, and what is known about its machine.
 */
#ifndef KBLAT_CLAIMS_CLAIM_RUN_H
#define KBLAT_CLAIMS_CLAIM_RUN_H

#include <jansson.h>

#include "common/err.h"
#include "rundir/reader.h"

struct claim_run {
	const json_t *run, *resolved, *summary; /* borrowed */
	/* "keys" of state.json of the source's and the sink's host, before the run; may be NULL. */
	json_t *state[2];
	/* Point id, as a string -> names of the RDMA devices that it was granted; may be NULL. */
	json_t *devices;
};

/* -ENOENT (STATUS_USAGE) if the run has no summary yet. Free in both cases. */
int claim_run_read(const struct run *run, struct claim_run *out, struct err *e);
void claim_run_free(struct claim_run *r);

#endif
