/*
 * The throughput of streams: bytes per second against the size of messages, with the peak and the
 * size at which half of it is reached; and the latency of completions against messages per second,
 * as the depth increases. Each is drawn if there are enough values of the setting.
 */
#ifndef KBLAT_REPORT_FIGURE_RATE_H
#define KBLAT_REPORT_FIGURE_RATE_H

#include "report/figure.h"

int figure_rate_add(struct figures *f, const struct report *r, struct err *e);

#endif
