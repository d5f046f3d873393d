/*
 * What streams move a second: bytes against the message's size, with the peak and the size at which
 * half of it is reached; and the latency of a completion against the messages a second, as the depth
 * grows. Where there are enough values of either setting.
 */
#ifndef KBLAT_REPORT_FIGURE_RATE_H
#define KBLAT_REPORT_FIGURE_RATE_H

#include "report/figure.h"

int figure_rate_add(struct figures *f, const struct report *r, struct err *e);

#endif
