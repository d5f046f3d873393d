/*
 * What an endpoint has while it serves: endpoint.c takes orders, endpoint_open.c makes what a point needs, endpoint_report.c hands back what was
 * measured.
 */
#ifndef KBLAT_ENDPOINT_WORK_H
#define KBLAT_ENDPOINT_WORK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/wire.h"
#include "endpoint/runners.h"
#include "instrument/device_clock.h"
#include "instrument/recorder.h"
#include "instrument/sample_file.h"
#include "kernels/kernel.h"
#include "placement/placement.h"
#include "point/settings.h"

#define MAX_KERNEL_SETTINGS 512

struct endpoint {
	int out;
	struct wire in;
	bool quit;

	enum role role;
	const struct kernel_ops *kernel;
	const struct transport_ops *ops;
	const struct kernel_loops *loops;
	struct transport *transport;
	struct common_settings common;
	_Alignas(64) char settings[MAX_KERNEL_SETTINGS]; /* the kernel's own struct */
	struct placement placement;
	struct recorder recorder;
	struct clock_conversion conversion;
	uint64_t capacity;
	uint32_t signal_every;
	bool restamps, lossy, stamped, stores;
	bool undisturbed;		  /* this repetition is without the restamping thread */
	struct device_clock device_clock; /* where stamped: around the repetition */
	struct sample_file store;	  /* stores: of the sink */
	char store_name[32];
	const struct kernel_column *column[KERNEL_COLUMNS]; /* this side's, in the recorder's order */
	char *salvage; /* where to keep the columns if the coordinator is gone; NULL: nowhere */

	struct worker worker;
	struct runners runners;
	bool running;
	unsigned rep;
	json_t *device_before;
};

/* Steals `message`. */
int endpoint_reply(struct endpoint *ep, json_t *message);

/* A kernel without a thread for them polls its send completions busily; likewise where they are there at once. */
enum poll_mode endpoint_poll_send(const struct endpoint *ep);

/* The order "open": CPUs, memory and a transport, as its settings want them. */
int endpoint_open(struct endpoint *ep, const json_t *order, struct err *e);

/* The measuring threads have ended: tell what happened, then the columns. */
int endpoint_report(struct endpoint *ep);

/* The coordinator died in the middle of a repetition: keep what was measured where the run directory is. */
void endpoint_salvage(struct endpoint *ep);

#endif
