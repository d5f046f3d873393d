/*
 * The commands that prepare a point: reporting the available CPUs, and creating memory, a transport and whatever else
 * its settings require.
 */
#ifndef KBLAT_ENDPOINT_OPEN_H
#define KBLAT_ENDPOINT_OPEN_H

#include "measure/endpoint/endpoint_state.h"

/* Each returns 0 and the reply in `*reply` (a new reference), or a negative errno. */
int endpoint_survey(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);
int endpoint_open(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);

#endif
