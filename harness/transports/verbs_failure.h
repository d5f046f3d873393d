/*
 * Errors in the hot path: recorded there, reported afterwards.
 */
#ifndef KBLAT_TRANSPORTS_VERBS_FAILURE_H
#define KBLAT_TRANSPORTS_VERBS_FAILURE_H

#include "transports/verbs.h"

/* Cold: record the first error. verbs_note() returns a negative errno. */
int verbs_note(struct verbs_fault *f, int rc, const char *operation, uint64_t wr_id);
void verbs_note_completion(struct verbs_fault *f, int polled, const struct ibv_wc *wc);

/* See transport_ops.failure. */
int verbs_failure(const struct transport *transport, struct err *e);

#endif
