/*
 * What an endpoint returns when a repetition has ended.
 */
#ifndef KBLAT_ENDPOINT_REPORT_H
#define KBLAT_ENDPOINT_REPORT_H

#include "measure/endpoint/endpoint_state.h"

/* To be called when the measuring threads have ended: converts the columns and returns "done", which describes what
 * happened and is to be followed by the columns. A new reference. */
json_t *endpoint_report(struct endpoint *ep);

/* Sends the bytes of the columns in the order listed in the "done". 0 or a negative errno. */
int endpoint_send_columns(const struct endpoint *ep);

/* For the case that the coordinator died during a repetition: stores what was measured in the run directory. */
void endpoint_keep_columns(struct endpoint *ep);

#endif
