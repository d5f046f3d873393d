/*
 * An endpoint's share of `explain`: what the kernel does on its CPUs while a repetition is measured (trace/trace.h), and
 * the gaps that its loops saw between two polls.
 */
#ifndef KBLAT_ENDPOINT_TRACE_H
#define KBLAT_ENDPOINT_TRACE_H

#include <jansson.h>

#include "instrument/stolen.h"
#include "instrument/witness.h"
#include "kernels/kernel.h"
#include "trace/trace_events.h"

struct endpoint;
struct err;
struct trace;

struct endpoint_trace {
	bool mask;  /* other tasks have no names */
	bool is_on; /* of this repetition */
	struct trace *trace;
	char why[256]; /* it is not possible; "": it is, or was not tried */
	struct trace_words words;
	struct witness witness;		  /* while a repetition runs the worker has it */
	const struct kernel_loops *loops; /* of this repetition, if others than the flow's */
	struct stolen stolen;		  /* before it */
};

/* Make ready, where the point is to be explained; begin, where the repetition is. An error only where the point says that
 * it is required. */
int endpoint_trace_open(struct endpoint *ep, struct err *e);
int endpoint_trace_start(struct endpoint *ep, bool wanted, struct err *e);

/* The loops have ended: what trace-<side>.json is to say, with "words", how many numbers endpoint_trace_send() will send.
 * NULL: the repetition is not to be explained. */
json_t *endpoint_trace_take(struct endpoint *ep);
int endpoint_trace_send(const struct endpoint *ep);

/* `stopped`: no loop looks at its witness any more. */
void endpoint_trace_close(struct endpoint *ep, bool stopped);

#endif
