/*
 * What an endpoint reports about its host: the tick counter, the clock shared with other hosts, the state, and what
 * `kblat doctor` finds there.
 */
#ifndef KBLAT_ENDPOINT_HOST_H
#define KBLAT_ENDPOINT_HOST_H

#include "measure/endpoint/endpoint_state.h"

struct err;

/* Commands, as in endpoint.c. "calibrate": the counter's frequency and checks; "ticks": its current value, immediately;
 * "capture": the machine's state, file by file; "discipline": what synchronises the shared clock, and how well
 * ("method": "ptp" or "system"); "wall": the time of that clock in wall_ns, and the time since t0 in at_ns; "room": the
 * memory and threads available for a repetition; "doctor": the results of its checks. */
int endpoint_calibrate(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);
int endpoint_ticks(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);
int endpoint_capture(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);
int endpoint_discipline(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);
int endpoint_wall(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);
void endpoint_wall_close(struct endpoint *ep);
int endpoint_room(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);
int endpoint_doctor(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e);

#endif
