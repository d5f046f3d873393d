/*
 * What an endpoint hands back when a repetition has ended.
 */
#ifndef KBLAT_ENDPOINT_REPORT_H
#define KBLAT_ENDPOINT_REPORT_H

#include "endpoint/endpoint_state.h"

/* The measuring threads have ended: "done", with what happened; the columns are converted and follow it. A new
 * reference. */
json_t *endpoint_report(struct endpoint *ep);

/* The columns' bytes, as the "done" lists them. 0 or a negative errno. */
int endpoint_send_columns(const struct endpoint *ep);

/* The coordinator died in the middle of a repetition: keep what was measured where the run directory is. */
void endpoint_keep_columns(struct endpoint *ep);

#endif
