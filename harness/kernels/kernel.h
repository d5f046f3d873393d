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

#define KERNEL_COLUMNS 6

/* Columns and series `with` this setting hold the device's own stamps: in ticks of its clock until the repetition has
 * ended (instrument/device_clock.h). */
#define KERNEL_BY_DEVICE "t_hw"

struct kernel_column {
	const char *name; /* "t_subm" */
	enum role side;	  /* who records it */
	const char *with; /* recorded only where this setting (OPT_BOOL) is yes; NULL: always */
};

/* A series: column - minus, message by message. */
struct kernel_series {
	const char *name;  /* "lat_ns": key in the summary's metrics */
	const char *label; /* "t_lat": in figures and tables */
	const char *column;
	const char *minus;
	const char *
	    among; /* a column: where it never happened there is no entry, so none is lost; NULL: every message has one */
	int divide;	  /* 2: half of it; 0 or 1: as it is */
	bool sparse;	  /* entries only where they were asked for: the others are not lost */
	const char *with; /* as for columns */
};

/* Does a point have what a column or series is recorded `with`? */
static inline bool kernel_has(const json_t *params, const char *with)
{
	return !with || json_is_true(json_object_get(params, with));
}

struct sample_file;

/* What the threads of one endpoint share over one repetition. Each counter has one writer. */
struct worker {
	struct transport *transport;
	const void *settings; /* the kernel's own struct */
	enum poll_mode poll_send, poll_recv;
	uint32_t messages; /* of this repetition */
	uint32_t depth;
	uint32_t signal_every;		 /* of the transport's settings; 1 if it has none such */
	bool lossy;			 /* a message may be lost: see transport_ops.is_reliable */
	bool rests_asleep;		 /* the source sleeps in its pauses, as it would for send completions */
	int64_t blank;			 /* what an entry of a column is before it is written */
	int64_t spin_ticks;		 /* adaptive polling: how long before sleeping */
	int64_t *column[KERNEL_COLUMNS]; /* by index in kernel->columns; NULL if the other side's */
	struct clock_conversion clock;
	struct sample_file *store; /* sink: where samples are put; NULL: nowhere */

	_Alignas(64) atomic_int stop;		/* set by the control thread; looked at only when idle */
	_Alignas(64) _Atomic uint64_t progress; /* posted or received so far; published when idle and at the end */
	_Alignas(
	    64) _Atomic uint32_t completed;   /* source, event mode: messages seen completed by the completion thread */
	_Alignas(64) atomic_int restamp_stop; /* the source's loop has ended */
	_Alignas(64) struct counters counters;
};

/* The loops of a kernel for one transport. 0, or a negative errno (transport->ops->failure tells). */
struct kernel_loops {
	int (*source)(struct worker *w);
	/* Where send completions are not polled busily: sleeps on them, on a thread of its own. NULL: they always are. */
	int (*completions)(struct worker *w);
	/* t_send: rewrites the payload's time stamp, on a CPU of its own. NULL: the kernel has no such thing. */
	int (*restamp)(struct worker *w);
	/* Ends when all messages came, or when told to stop. */
	int (*sink)(struct worker *w);
};

/* A kernel's loops over one transport: a row of its table, which ends with a transport of NULL. */
struct kernel_instance {
	const char *transport;
	const struct kernel_loops *loops;
};

struct kernel_ops {
	const char *name;
	const char *summary;
	const struct opt *options;
	size_t settings_size;
	bool duplex;			     /* both sides post and receive */
	const struct kernel_column *columns; /* name NULL ends */
	const struct kernel_series *series;  /* name NULL ends */
	int (*check)(const json_t *params, char *why, size_t why_size);
	/* Bytes of a message where they are not the setting `size`; a transport's own come on top. NULL: they are. */
	int64_t (*size)(const json_t *params);
	const struct kernel_instance *instances; /* the transports that the kernel makes sense over */
};

extern const struct kernel_ops *const kernels[]; /* NULL-terminated; harness/point/registry.c */
const struct kernel_ops *kernel_find(const char *name);

/* The loops of a kernel over a transport, or NULL if it does not run over it. */
const struct kernel_loops *kernel_loops_find(const struct kernel_ops *k, const char *transport);

#endif
