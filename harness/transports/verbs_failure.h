/*
 * What went wrong in the hot path: noted there, told afterwards.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_FAILURE_H
#define KBLAT_TRANSPORTS_VERBS_FAILURE_H

#include "transports/verbs.h"

/* Cold: note what went wrong, the first time. verbs_note() returns a negative errno. */
int verbs_note(struct verbs_fault *f, int rc, const char *operation, uint64_t wr_id);
void verbs_note_completion(struct verbs_fault *f, int polled, const struct ibv_wc *wc);

/* As transport_ops.failure. */
int verbs_failure(const struct transport *transport, struct err *e);

#endif
