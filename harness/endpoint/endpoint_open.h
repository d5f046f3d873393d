/*
 * The orders that prepare a point: which CPUs there are, and making memory, a transport and what else its settings ask for.
 */
#ifndef KBLAT_ENDPOINT_OPEN_H
#define KBLAT_ENDPOINT_OPEN_H

#include "endpoint/endpoint_state.h"

/* Each: 0 and the answer in `*reply` (a new reference), or a negative errno. */
int endpoint_survey(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);
int endpoint_open(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);

#endif
