/*
 * A latency kernel: what is sent when, what is stamped, what derives from the stamps. Written once (kernels/<kernel>.c
 * for the table, kernels/<kernel>_loop.c for the loops) and compiled once for each transport, so that the loop costs
 * what one written by hand would.
 *
 * Adding a kernel: its two files, a row in registry.c, its name in the Makefile's KERNELS.
 */
#ifndef KBLAT_KERNELS_KERNEL_H
#define KBLAT_KERNELS_KERNEL_H

#include <stdatomic.h>
#include <stdint.h>

#include "common/opt.h"
#include "instrument/clock.h"
#include "instrument/counters.h"
#include "transports/transport.h"

#define KERNEL_COLUMNS 4

struct kernel_column {
	const char *name; /* "t_subm" */
	enum role side;	  /* who records it */
};

/* A series: column - minus, message by message. */
struct kernel_series {
	const char *name;  /* "lat_ns": key in the summary's metrics */
	const char *label; /* "t_lat": in figures and tables */
	const char *column;
	const char *minus;
};

/* What the threads of one endpoint share over one repetition. Each counter has one writer. */
struct worker {
	struct transport *transport;
	const void *settings; /* the kernel's own struct */
	enum poll_mode poll;
	uint32_t messages; /* of this repetition */
	uint32_t depth;
	int64_t *column[KERNEL_COLUMNS]; /* by index in kernel->columns; NULL if the other side's */
	struct clock_conversion clock;

	_Alignas(64) atomic_int stop;		 /* set by the control thread; looked at only when idle */
	_Alignas(64) _Atomic uint64_t progress;	 /* posted or received so far; published when idle and at the end */
	_Alignas(64) _Atomic uint32_t completed; /* source, event mode: completions seen by the completion thread */
	_Alignas(64) struct counters counters;
};

/* The loops of a kernel for one transport. 0, or a negative errno (transport->ops->failure tells). */
struct kernel_loops {
	int (*source)(struct worker *w);
	int (*completions)(
	    struct worker *w);	       /* source, event mode: sleeps on the send completions, on a thread of its own */
	int (*sink)(struct worker *w); /* ends when all messages came, or when told to stop */
};

struct kernel_ops {
	const char *name;
	const char *summary;
	const struct opt *options;
	size_t settings_size;
	const struct kernel_column *columns; /* name NULL ends */
	const struct kernel_series *series;  /* name NULL ends */
	int (*check)(const json_t *params, char *why, size_t why_size);
	/* The loops for a transport, or NULL if the kernel makes no sense over it. */
	const struct kernel_loops *(*loops)(const char *transport);
};

extern const struct kernel_ops *const kernels[]; /* NULL-terminated; harness/registry.c */
const struct kernel_ops *kernel_find(const char *name);

#endif
