/*
 * What an endpoint tells of the host that it runs on: its tick counter, the clock that it shares with others, its state, what `kblat doctor` finds there.
 */
#ifndef KBLAT_ENDPOINT_HOST_H
#define KBLAT_ENDPOINT_HOST_H

#include "endpoint/endpoint_state.h"

struct err;

/* Orders, as in endpoint.c. "calibrate": the counter's frequency and checks; "ticks": what it says now, at once; "capture":
 * the machine's state, file by file; "discipline": who keeps the clock that is shared, and how well ("method": "ptp" or "system"); "wall": what that
 * clock says now, in wall_ns, and since t0, in at_ns; "room": what a repetition may take there; "doctor": what its checks find. */
int endpoint_calibrate(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);
int endpoint_ticks(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);
int endpoint_capture(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);
int endpoint_discipline(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);
int endpoint_wall(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);
void endpoint_wall_close(struct endpoint *ep);
int endpoint_room(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);
int endpoint_doctor(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);

#endif
