/*
 * The state of an endpoint, which is one side of one flow. endpoint.c reads commands, endpoint_open.c creates what a
 * point needs, and endpoint_report.c returns what was measured.
 */
#ifndef KBLAT_ENDPOINT_STATE_H
#define KBLAT_ENDPOINT_STATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/wire.h"
#include "measure/endpoint/runners.h"
#include "measure/instrument/device_clock.h"
#include "measure/instrument/discipline.h"
#include "measure/instrument/noise.h"
#include "measure/instrument/recorder.h"
#include "measure/instrument/witness.h"
#include "measure/kernels/kernel.h"
#include "measure/point/flow.h"
#include "measure/trace/trace_events.h"

struct trace;

/* Of `explain` (endpoint_trace.h). */
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

struct endpoint {
	int out;
	struct wire in;
	bool quit;
	int (*examine)(json_t **findings, struct err *e); /* endpoint_serve() */

	enum role role;
	char flow_name[FLOW_NAME_MAX];
	struct flow flow;
	struct transport *transport;
	bool has_met, is_connected; /* it was told to connect; and has done so */
	int cpu, spare_cpu;	    /* dealt by the coordinator; -1: none */
	int numa_node;
	struct recorder recorder;
	struct clock_conversion conversion;
	bool is_apart;					    /* the other side is on another host: */
	struct clock_conversion source_conversion;	    /* what the source has stamped is converted so */
	const struct kernel_column *column[KERNEL_COLUMNS]; /* this side's, in the recorder's order */
	void *side;					    /* of the kernel's open_side() */
	struct device_clock device_clock;		    /* with the device's stamps: around the repetition */
	bool is_disciplined;				    /* `wall` is a clock that others share: */
	clockid_t wall;
	int wall_fd;	/* of an adapter's clock; -1: none is open */
	char *keep_dir; /* where columns go if the coordinator dies; NULL: nowhere */

	struct worker worker;
	struct runners runners;
	bool running, control, warm_up; /* control: a repetition without the threads that have a setting of their own */
	struct machine_load load;	/* before the threads began */
	json_t *device_before;
	struct endpoint_trace trace;
	int64_t settled; /* messages that the source has posted, all of them completed; -1: that is not known */
};

#endif
