/*
 * A latency kernel: what is sent when, what is stamped, what derives from the stamps. Written once (kernels/<kernel>.c
 * for the tables, kernels/<kernel>_loop.c for the loops) and compiled once for each transport, so that the loop costs
 * what one written by hand would.
 *
 * Adding a kernel: its files, and its row in kernels/kernel_list.h.
 */
#ifndef KBLAT_KERNELS_KERNEL_H
#define KBLAT_KERNELS_KERNEL_H

#include <stdatomic.h>
#include <stdint.h>

#include "common/opt.h"
#include "instrument/clock.h"
#include "instrument/counters.h"
#include "instrument/recorder.h"
#include "instrument/witness.h"
#include "transports/transport.h"

#define KERNEL_COLUMNS 8 /* of both sides together, at most */
#define KERNEL_THREADS 4 /* of both sides together, at most */

/* Both maxima, and the recorder's for one side, are proved where a kernel's tables stand. */
#define KERNEL_FITS(columns, threads)                                                                                  \
	_Static_assert(sizeof(columns) / sizeof((columns)[0]) - 1 <= KERNEL_COLUMNS,                                   \
		       "more columns than there is room");                                                             \
	_Static_assert(sizeof(threads) / sizeof((threads)[0]) - 1 <= KERNEL_THREADS, "more threads than there is "     \
										     "room")
_Static_assert(KERNEL_COLUMNS <= RECORDER_COLUMNS, "one side may have all of a kernel's columns");

/* Columns and series `with` this setting hold the device's own stamps: in ticks of its clock until the repetition has
 * ended (instrument/device_clock.h). */
#define KERNEL_BY_DEVICE "t_hw"

struct kernel_column {
	const char *name; /* "t_subm" */
	enum role side;	  /* who records it */
	const char *with; /* recorded only where this setting (OPT_BOOL) is yes; NULL: always */
	bool from_source; /* the sink records what the source has stamped */
};

/* A series: column - minus, message by message. */
struct kernel_series {
	const char *name;  /* "lat_ns": key in the summary's metrics */
	const char *label; /* "t_lat": in figures and tables */
	const char *column;
	const char *minus;
	const char *among; /* a column: where it never happened there is no entry, so none is lost; NULL: every message
			      has one */
	int divide;	   /* 2: half of it; 0 or 1: as it is */
	bool lag;	   /* minus the column's own entry before, instead of another column */
	bool sparse;	   /* entries only where they were asked for: the others are not lost */
	const char *with;  /* as for columns */
};

/* The row of a setting that kernels with a rate have. */
#define KERNEL_LINK_RATE(field)                                                                                        \
	{                                                                                                              \
		"link_rate", OPT_INT, field, "0", 0, 0x7fffffffffffffff, NULL,                                         \
		    "bits a second of the link, which the rate is a share of; 0: what the device says"                 \
	}

/* What the threads of one endpoint share over one repetition. Each counter has one writer. */
struct worker {
	struct transport *transport;
	const void *settings; /* the kernel's own struct */
	void *side;	      /* what the kernel's open_side() made; NULL: nothing */
	enum poll_mode poll_send, poll_recv;
	uint32_t messages; /* of this repetition */
	uint32_t entries;  /* of each column: as many, unless messages share one (schedule.block) */
	uint32_t depth;
	uint32_t signal_every;		 /* of the transport's settings; 1 if it has none such */
	bool lossy;			 /* a message may be lost: transport_traits.is_reliable */
	bool is_warm_up;		 /* without pauses */
	bool rests_asleep;		 /* the source sleeps in its pauses, as it would for send completions */
	int64_t blank;			 /* what an entry of a column is before it is written */
	int64_t spin_ticks;		 /* adaptive polling: how long before sleeping */
	int64_t drain_ticks;		 /* how long to wait for stragglers */
	bool is_passive;		 /* nobody looks at the sink: transport_config */
	int64_t *column[KERNEL_COLUMNS]; /* by index in kernel->columns; NULL if the other side's */
	struct clock_conversion clock;
	bool has_two_clocks; /* the other side's ticks are another counter's: never compared with this one's */

	_Alignas(64) atomic_int stop;		/* set by the control thread; looked at only when idle */
	_Alignas(64) _Atomic uint64_t progress; /* posted or received so far; published when idle and at the end */
	_Alignas(
	    64) _Atomic uint32_t completed;   /* source, event mode: messages seen completed by the completion thread */
	_Alignas(64) atomic_int restamp_stop; /* the source's loop has ended */
	_Alignas(64) struct counters counters;
	struct witness witness; /* of the loops of witness_list.h */
};

/* 0, or a negative errno (transport->ops->failure tells). */
typedef int kernel_loop(struct worker *w);

/* Where a thread runs. */
enum thread_cpu {
	THREAD_OF_SIDE,	  /* the CPU that is dealt to its side of the flow */
	THREAD_SPARE,	  /* one that no side of any flow has */
	THREAD_ELSEWHERE, /* any but that of its side, where another thread of it spins */
	THREAD_NONE,	  /* it does not run */
};

/*
 * A thread of a kernel. The source's start when all flows are armed, the sink's when they are armed themselves: it must
 * listen before the first message. Threads of a side start in the table's order, the last of them does the posting.
 */
struct kernel_thread {
	const char *name; /* "completions" */
	enum role side;
	enum thread_cpu cpu;
	/* It runs only where this setting (OPT_BOOL) is yes; NULL: always. Then the point has a control repetition, in
	 * which it does not run and nothing is recorded `with` that setting. */
	const char *with;
	/* Where it runs, or that it does not, as the settings have it; NULL: `cpu`. */
	enum thread_cpu (*place)(const void *settings);
	const char *setting; /* with `place`: what asked for a spare CPU, "hand spin" */
	bool sleeps;	     /* it sleeps on send completions: only where these are not polled busily */
};

/* The loops of a kernel for one transport, by index in kernel->threads. */
struct kernel_loops {
	kernel_loop *loop[KERNEL_THREADS];
};

/* A kernel's loops over one transport: a row of its table, which ends with a transport of NULL. */
struct kernel_instance {
	const char *transport;
	const struct kernel_loops *loops;
};

/* Where an endpoint runs, for what a kernel makes beside its columns. */
struct kernel_place {
	enum role role;
	const char *dir;  /* the point's in the run directory; NULL: that is on another machine */
	const char *flow; /* "": the only one */
	const char *name; /* unique: transport_config.name */
	int spare_cpu, numa_node;
	const atomic_int *stop;
};

/* What a kernel has at one side beyond loops and columns, such as a file that samples are written to. */
struct kernel_side_ops {
	/* `*side`: NULL where nothing is needed. */
	int (*open)(const void *settings, const struct kernel_place *place, void **side, struct err *e);
	int (*start)(void *side, unsigned repetition, struct err *e);
	int (*finish)(void *side, struct counters *c, struct err *e);
	void (*close)(void *side);
};

/* How the time of a repetition comes about, by the settings alone. */
struct kernel_demand {
	int64_t paced_ns; /* that they prescribe: pauses, gaps, steps of a pacer */
	int64_t posts;	  /* that follow each other at once */
	int64_t ways;	  /* one after the other, from one side to the other, that are waited for */
	int64_t limit_ns; /* after which it ends in any case; 0: none */
};

struct kernel_ops {
	const char *name;
	const char *summary;
	const struct opt *options;
	size_t settings_size;
	bool duplex; /* both sides post and receive; a kernel where a setting says so has plan() say it */
	/* The posting thread itself sleeps on send completions, where these are not polled busily. */
	bool source_sleeps;
	bool (*spins)(const void *settings); /* the side's thread spins, however it polls; NULL: it does not */
	bool counts_loss;		     /* its columns do not tell what was received: counters do, of both sides */
	bool adds_overhead; /* a transport's own bytes come on top of plan()'s size, rather than out of it */
	const struct kernel_column *columns; /* name NULL ends */
	const struct kernel_series *series;  /* name NULL ends */
	const struct kernel_thread *threads; /* name NULL ends */
	/* Fill what the settings say of a transport's work: size, schedule, rewrites, batch, … */
	void (*plan)(const void *settings, struct transport_config *config);
	/* What a repetition of so many messages, or a warm-up, will take its time for. */
	struct kernel_demand (*demand)(const void *settings, int64_t messages, bool warm_up);
	/* Contradictions between its settings, and between them and the transport's (config->ops, traits). NULL: none. */
	int (*check)(const void *settings, const struct transport_config *config, const struct transport_traits *traits,
		     char *why, size_t why_size);
	const struct kernel_side_ops *side;	 /* NULL: nothing */
	const struct kernel_instance *instances; /* the transports that the kernel makes sense over */
};

extern const struct kernel_ops *const kernels[]; /* NULL-terminated; harness/point/registry.c */
const struct kernel_ops *kernel_find(const char *name);

/* The loops of a kernel over a transport, or NULL if it does not run over it. */
const struct kernel_loops *kernel_loops_find(const struct kernel_ops *k, const char *transport);

/* Is something `with` a setting there, in a point with these settings of the kernel? NULL: always. */
bool kernel_has(const struct kernel_ops *k, const void *settings, const char *with);

/* Has the kernel a thread that runs only `with` a setting that is yes, so that a repetition without it tells its cost? */
bool kernel_has_control(const struct kernel_ops *k, const void *settings);

#endif
