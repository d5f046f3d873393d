/*
 * The endpoint's part of `explain`: what the operating system's kernel does on its CPUs while a repetition is measured
 * (measure/trace/trace.h), and the gaps between two polls that its loops saw.
 */
#ifndef KBLAT_ENDPOINT_TRACE_H
#define KBLAT_ENDPOINT_TRACE_H

#include "measure/endpoint/endpoint_state.h"

struct err;

/* Prepare, if the point is to be explained; begin, if the repetition is. They fail only if the point requires the
 * trace. */
int endpoint_trace_open(struct endpoint *ep, struct err *e);
int endpoint_trace_start(struct endpoint *ep, bool wanted, struct err *e);

/* Are events recorded in this repetition? */
bool endpoint_is_traced(const struct endpoint *ep);

/* To be called when the threads of this repetition exist: events about threads are then only
 * recorded for these. */
void endpoint_trace_follow(struct endpoint *ep);

/* To be called when the loops have ended: returns the content of trace-<side>.json, in which "words" is the number of
 * values that endpoint_trace_send() will send. NULL: the repetition is not to be explained. */
json_t *endpoint_trace_take(struct endpoint *ep);
int endpoint_trace_send(const struct endpoint *ep);

/* `stopped`: the loops no longer log gaps. */
void endpoint_trace_close(struct endpoint *ep, bool stopped);

#endif
