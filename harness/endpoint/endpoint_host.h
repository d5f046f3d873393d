/*
 * What an endpoint tells of the host that it runs on, where that is not the coordinator's: its tick counter and its state.
 */
#ifndef KBLAT_ENDPOINT_HOST_H
#define KBLAT_ENDPOINT_HOST_H

#include "endpoint/endpoint_state.h"

struct err;

/* Orders, as in endpoint.c. "calibrate": the counter's frequency and checks; "ticks": what it says now, at once; "capture":
 * the machine's state, file by file. */
int endpoint_calibrate(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);
int endpoint_ticks(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);
int endpoint_capture(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);

#endif
